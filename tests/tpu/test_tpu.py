"""What the compiler for TPUs makes of programs that were verified on the CPU, behind the same walls."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader.core.chips import CHIPS, compiler_of
from grader.core.errors import SubmissionFault
from grader.explorer.description import explored
from grader.package.package import Limits
from grader.program.hlo import read_hlo
from grader.program.schedule_reader import read_schedule
from grader.review.reader import read_package
from grader.sandbox.protocol import RunnerSpec
from tests.grader.on_chips import on_chip
from tests.grader.program.test_schedule import SCHEDULED, schedule_of

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("tpu")


def test_it_is_the_compiler_that_the_lock_names():
    pinned = (ROOT / "pyproject.toml").read_text()
    assert f'"{str(compiler_of("tpu")).replace(" ", "==")}"' in pinned


def test_the_schedules_that_the_other_tests_read_are_what_it_prints():
    script = "import json, tests.grader.program.scheduled_programs as it; print(json.dumps(it.compile_all('tpu')))"
    printed = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    texts = json.loads(printed.splitlines()[-1])
    assert {f"{name}.txt" for name in texts} == {path.name for path in SCHEDULED.iterdir()}
    for name, text in texts.items():
        assert read_schedule(read_hlo(text), 8, {"fsdp": 8}, CHIPS["v5e"]) == schedule_of(name)


def test_every_slice_that_is_offered_can_be_compiled_for():
    tpus = [chip for chip in CHIPS.values() if chip.platform == "tpu"]
    names = [chip.topology(devices) for chip in tpus for devices in chip.shapes]
    script = (
        "import sys; from jax.experimental import topologies\n"
        "for name in sys.argv[1:]: print(len(topologies.get_topology_desc(name, platform='tpu').devices))"
    )
    environment = {"JAX_PLATFORMS": "cpu", "TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}
    environment |= {"TPU_WORKER_HOSTNAMES": "localhost", "TPU_ACCELERATOR_TYPE": "v5litepod-8"}
    command = [sys.executable, "-c", script, *names]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    assert found == [str(devices) for chip in tpus for devices in chip.shapes]


def test_a_reference_is_compiled_for_a_slice_of_each_of_its_meshes(judge):
    package = read_package(ROOT / "problems" / "fsdp_shard_map_step")
    programs = explored(judge.inspect(package, package.reference, chip="v5e")).programs
    assert [each.on_chip.topology for each in programs] == ["v5e:2x4", "v5e:2x2"]
    for each in programs:
        tpu = each.on_chip
        assert tpu.fault is None
        assert 0 < tpu.argument_bytes <= tpu.peak_bytes < tpu.hbm_bytes == 16 << 30
        # A product may be split or merged, but the work stays.
        assert tpu.flops == pytest.approx(each.flops, rel=0.05)
        [program] = tpu.computations
        kinds = {collective.collective for collective in program.collectives}
        assert "all-gather" in kinds
        lines = {collective.line for collective in program.collectives if collective.collective == "all-gather"}
        assert lines <= {collective.line for collective in each.collectives}
        assert any("all-gather over fsdp carries bf16, not f32" in text for text in tpu.differences)


@pytest.mark.parametrize("chip", [chip.name for chip in CHIPS.values() if chip.platform == "tpu"])
def test_a_function_is_compiled_for_each_chip(judge, chip):
    tpu = on_chip(judge, chip)
    assert (tpu.fault, tpu.topology, tpu.compiler) == (None, CHIPS[chip].topology(8), compiler_of("tpu"))
    assert tpu.flops == 2 * 128 * 1024 * 1024


def test_a_mesh_with_two_axes_has_both_in_its_communication(judge):
    source = "def f(x, w):\n    return x @ w\n"
    inputs = 'x: float32[1024, 1024] P("data", "model")\nw: float32[1024, 1024] P("model")'
    tpu = on_chip(judge, "v5e", source, "data=4, model=2", inputs)
    assert {each.axes for part in tpu.computations for each in part.collectives} == {("model",)}


def test_what_needs_more_memory_than_a_chip_has_says_so(judge):
    source = "import jax.numpy as jnp\n\ndef f(x, w):\n    return jnp.sort(x @ w, axis=0)\n"
    inputs = "x: float32[65536, 32768]\nw: float32[32768, 65536]"
    tpu = on_chip(judge, "v5e", source, inputs=inputs)
    assert tpu.fault.startswith("The program does not fit on a chip. The compiler says: Ran out of memory")
    assert tpu.computations == []


def test_what_native_code_does_on_a_cpu_is_lowered_for_tpus(judge):
    tpu = on_chip(
        judge,
        "v5e",
        "import jax\n\ndef f(x, w):\n    return jax.numpy.linalg.eigh(x @ w)[0]\n",
        inputs="x: float32[8, 8]\nw: float32[8, 8]",
    )
    assert tpu.fault is None
    assert tpu.flops == 2 * 8 * 8 * 8


def test_a_mesh_that_no_slice_has_is_not_checked(judge):
    tpu = on_chip(judge, "v5e", mesh="data=2")
    assert tpu.fault == "Not checked: slices here have 4, 8, 16, 32, 64, 128 or 256 chips, not 2."


def test_a_forged_artifact_is_refused(sandbox):
    import numpy as np

    inputs = [{"shape": [8], "dtype": "float32"}]
    with sandbox.open(RunnerSpec(1, Limits(), program="tpu")) as session:
        for forged in (b"", b"\0" * 4096, b"not a program"):
            with pytest.raises(SubmissionFault, match="cannot be read"):
                session.compile_for(
                    "v5e:2x4", {"data": 8}, np.frombuffer(forged, np.uint8), inputs, state=0, options={}
                )


def test_weights_are_on_their_way_to_on_chip_memory_during_products(judge):
    source = "def f(x, v, w):\n    h = x @ v\n    return h @ w\n"
    inputs = 'x: float32[2048, 2048] P("data")\nv: float32[2048, 2048]\nw: float32[2048, 2048]'
    [program] = on_chip(judge, "v5e", source, inputs=inputs).computations
    # One of the two weights is there when the program starts, or is brought before anything can hide that.
    hidden = [each for each in program.copies if each.hidden_cycles]
    assert {(each.source, each.target) for each in hidden} == {("HBM", "on-chip memory")}
    assert sum(each.bytes for each in program.copies) >= 4 * 2048 * 2048


def test_approx_max_k_is_compiled_for_tpus(judge):
    source = "import jax\n\ndef f(x, w):\n    return jax.lax.approx_max_k(x @ w, 8)\n"
    assert on_chip(judge, "v5e", source).fault is None
