"""The chips that programs are compiled for: their slices, and what joins them."""

from importlib.metadata import version

import pytest

from grader.core import chips
from grader.core.chips import CHIPS, compiler_of, offered_chips, slice_of


@pytest.mark.parametrize(("name", "devices"), [("h100:2", 2), ("a100:8", 8), ("b200:2x8", 16), ("h200:32x8", 256)])
def test_a_slice_of_gpus_is_named_by_its_hosts(name: str, devices: int) -> None:
    chip, found = slice_of(name)
    assert (f"{chip.name}:{chip.shapes[devices]}", found, chip.platform) == (name, devices, "gpu")
    assert chip.topology(devices) == name
    assert chip.topology(12) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("h900:8", "Write it as h100:8 or v5e:2x4, with one of h100, h200, a100, b200, v5e, v5p, v6e"),
        ("h100:3x8", "H100 has no slice '3x8' here. Use one of 2, 4, 8, 2x8, 4x8, 8x8, 16x8, 32x8"),
        ("h100", "H100 has no slice '' here"),
    ],
)
def test_a_slice_that_does_not_exist_is_named_with_those_that_do(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        slice_of(name)


def test_a_collective_crosses_the_slowest_link_between_its_devices() -> None:
    gpu, tpu = CHIPS["h100"], CHIPS["v5e"]
    hosts = [range(8), range(8, 16)]
    assert gpu.link(hosts) == "NVLink"
    assert gpu.link([(device, device + 8) for device in range(8)]) == "InfiniBand"
    assert gpu.link([range(16)]) == "InfiniBand"
    # One group is enough.
    assert gpu.link([(0, 1), (7, 8)]) == "InfiniBand"
    assert tpu.link([range(256)]) == "ICI"


def test_a_sentence_can_name_a_chip() -> None:
    assert [CHIPS[name].one for name in ("h100", "a100", "b200", "v5e")] == [
        "an H100",
        "an A100",
        "a B200",
        "a TPU v5e chip",
    ]
    assert [CHIPS[name].short for name in ("h100", "v5e")] == ["H100", "TPU"]


@pytest.mark.parametrize(("installed", "found"), [(version("jaxlib"), True), ("0.9.0", False), (None, False)])
def test_the_compiler_for_gpus_has_to_be_that_of_jaxlib(
    monkeypatch, tmp_path, request, installed: str | None, found: bool
) -> None:
    monkeypatch.setattr(chips, "GPU_FOLDER", tmp_path)
    compiler_of.cache_clear()
    request.addfinalizer(compiler_of.cache_clear)
    if installed:
        about = tmp_path / f"jax_cuda12_pjrt-{installed}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: jax-cuda12-pjrt\nVersion: {installed}\n")
    assert compiler_of("gpu") == (f"jax-cuda12-pjrt {installed}" if found else None)
    assert ("h100" in [each.name for each in offered_chips()]) == found


@pytest.mark.parametrize(
    ("name", "per_s", "clock"), [("v5e", 100e9, 1.5e9), ("v5p", 200e9, 1.75e9), ("v6e", 200e9, 1.75e9)]
)
def test_what_a_tpu_sends_in_a_second_follows_from_its_documented_figures(name: str, per_s: float, clock: float):
    torus = CHIPS[name].torus
    assert torus is not None
    assert torus.sent_per_s == per_s
    assert torus.cycles_per_s == pytest.approx(clock, rel=0.01)
    sent, second = torus.sent_per_s, torus.cycles_per_s
    assert torus.cycles_to_send("all-gather", sent, 8) == second
    # One of the two directions.
    assert torus.cycles_to_send("collective-permute", sent, 8) == 2 * second
    # On a ring of 16, the destination is 4 chips away on average, and never less than one.
    assert [torus.cycles_to_send("all-to-all", sent, size) for size in (2, 16)] == [second, 4 * second]
