"""The comparison of the lens with a GPU's own compiler, on machines without a GPU."""

import subprocess
import sys
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest

from benchmarks.errors import BenchmarkFailed
from benchmarks.real_gpu import PROBLEMS, AttachedGPU, Row, attached_gpu, compared, read_target, table
from benchmarks.workload import CHECKOUT
from grader.core.chips import CHIPS
from grader.program.measurement import Measured
from grader.program.memory import Memory
from grader.program.on_chip import ChipFacts, OnChip
from grader.review.reader import read_package
from tests.grader.checks.program.made_up_programs import EIGHT, program
from tests.grader.program.test_gpu_schedule import schedule_of

H100 = CHIPS["h100"]


def compiled(name: str, peak_bytes: int = 1 << 20) -> ChipFacts:
    return ChipFacts(Memory(0, 0, 0, 0), peak_bytes, 0, schedule_of(name))


def by_the_lens(found: ChipFacts | None) -> Measured:
    return replace(program(EIGHT), on_chip=OnChip("h100:8", found, "" if found else "It is too large."))


def test_the_lens_does_not_differ_from_itself() -> None:
    assert compared(by_the_lens(compiled("gathered_ahead")), compiled("gathered_ahead"), H100) == ()


def test_what_differs_is_named_in_the_program_its_memory_and_its_order() -> None:
    found = compared(by_the_lens(compiled("gathered_ahead", 2 << 20)), compiled("not_combined"), H100)
    assert [each.partition(" (")[0] for each in found] == [
        "all-gather over fsdp moves the same 768 KiB in 1 execution",
        "No kernel runs beside all-gather over fsdp",
        "Each H100 holds 2 MiB at its peak, 2 times the other's 1 MiB.",
    ]


def test_a_program_that_the_lens_does_not_have_ends_the_benchmark() -> None:
    with pytest.raises(BenchmarkFailed, match="The lens has no program: It is too large"):
        compared(by_the_lens(None), compiled("gathered_ahead"), H100)


def test_the_table_has_a_row_for_each_reference() -> None:
    rows = [Row("a", "x=8", ()), Row("b", "x=4", ("One.", "Two."))]
    assert list(table(rows))[2:] == ["| `a` | x=8 | no difference |", "| `b` | x=4 | One. Two. |"]


def test_each_of_ten_problems_has_a_mesh_for_which_there_is_a_slice() -> None:
    assert len(set(PROBLEMS)) == 10
    for slug in PROBLEMS:
        spec = read_package(CHECKOUT / "problems" / slug).manifest.program
        assert H100.topology(prod(spec.meshes[0].values())) is not None, slug


@pytest.mark.parametrize(
    ("name", "chip"), [("NVIDIA H100 80GB HBM3", "h100"), ("NVIDIA A100-SXM4-40GB", "a100"), ("NVIDIA B200", "b200")]
)
def test_a_gpu_is_the_chip_of_its_name(name: str, chip: str) -> None:
    assert AttachedGPU(name, "550.54").chip is CHIPS[chip]


def test_an_unknown_gpu_is_named_with_those_that_are_known() -> None:
    with pytest.raises(BenchmarkFailed, match="does not know this GPU, NVIDIA L4"):
        AttachedGPU("NVIDIA L4", "550.54").chip  # noqa: B018


def stand_in(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `nvidia-smi` be this script of a shell, or nothing if it is empty."""
    if script:
        command = folder / "nvidia-smi"
        command.write_text(f"#!/bin/sh\n{script}\n")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize("script", ["", "exit 9", "echo No devices were found"], ids=["none", "fails", "no device"])
def test_without_a_gpu_it_says_so(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, script, monkeypatch)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.real_gpu"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "This benchmark compares the lens with a GPU's own compiler, and this machine has no NVIDIA GPU: `nvidia-smi` "
        "lists none.\n"
    )


def test_the_first_gpu_is_read_with_its_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "echo 'NVIDIA H200, 570.86.15'; echo 'NVIDIA H200, 570.86.15'", monkeypatch)
    assert attached_gpu() == AttachedGPU("NVIDIA H200", "570.86.15")


def test_the_target_configuration_is_what_xla_wrote(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFailed, match="did not write the target configuration"):
        read_target(tmp_path)
    (tmp_path / "module_0001.jit_f.gpu_target_config.pbtxt").write_text("platform_name: 'CUDA'")
    assert read_target(tmp_path) == "platform_name: 'CUDA'"
