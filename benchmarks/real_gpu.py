"""Compare the lens with a GPU's own compiler: `python -m benchmarks.real_gpu [--python PATH]`, on a machine with a GPU.

The references of ten problems are compiled for as many GPUs as their first mesh has devices: by the lens, which knows
the GPU from a description, and by XLA for the attached GPU, with the target configuration that it reads from the device
and with its own kernels. The differences in programs, memory and order are printed. No program is run.

`--python` is an interpreter with `jax[cuda12]` of the lens's version; without it, that of this process is used.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchmarkFailed
from benchmarks.lens import compiler_for_gpus
from benchmarks.workload import CHECKOUT
from grader.core.chips import CHIPS, Chip
from grader.program.differences_between_chips import compare_on_chip
from grader.program.measurement import Measured, mesh_name
from grader.program.on_chip import ChipFacts, from_json

PROBLEMS = (
    "bf16_gather_fp32_reduce",
    "constraint_gather_weights",
    "dp_step",
    "fsdp_auto_step",
    "fsdp_grad_accum",
    "hsdp_step",
    "moe_dispatch",
    "ring_attention",
    "tp_column_row",
    "zero2_grads",
)
_INSIDE = "--inside"
_ASK_DRIVER = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]


@dataclass(frozen=True, slots=True)
class AttachedGPU:
    """The first GPU of the machine."""

    name: str
    driver: str

    @property
    def chip(self) -> Chip:
        """The GPU as the lens knows it. Raises `BenchmarkFailed` if it does not."""
        known = [each for each in CHIPS.values() if each.gpu is not None]
        found = next((each for each in known if each.title in self.name), None)
        if found is None:
            titles = ", ".join(each.title for each in known)
            raise BenchmarkFailed(f"The lens does not know this GPU, {self.name}. It knows {titles}.")
        return found


def attached_gpu() -> AttachedGPU:
    """Ask NVIDIA's driver. Raises `BenchmarkFailed` if there is no GPU."""
    try:
        done = subprocess.run(_ASK_DRIVER, capture_output=True, text=True, timeout=60, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        raise _no_gpu() from None
    name, comma, driver = done.stdout.partition("\n")[0].partition(", ")
    if done.returncode or not comma:
        raise _no_gpu()
    return AttachedGPU(name, driver)


def _no_gpu() -> BenchmarkFailed:
    return BenchmarkFailed(
        "This benchmark compares the lens with a GPU's own compiler, and this machine has no NVIDIA GPU: "
        f"`{_ASK_DRIVER[0]}` lists none."
    )


@dataclass(frozen=True, slots=True)
class Row:
    """A program, and the sentences on what the GPU's own compiler makes of it instead."""

    problem: str
    mesh: str
    differences: tuple[str, ...]


def compared(measured: Measured, device: ChipFacts, chip: Chip) -> tuple[str, ...]:
    """How the program of the lens ("the other" is the device's) differs in collectives, their order, memory and FLOPs.

    Raises `BenchmarkFailed` if the lens has no program.
    """
    lens = measured.on_chip
    if lens is None or lens.program is None:
        raise BenchmarkFailed(f"The lens has no program: {lens.fault if lens else 'it was not asked'}")
    return tuple(each.text for each in compare_on_chip(lens.program, device, chip))


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of a Markdown table."""
    yield "| reference | mesh | the lens, against the GPU's own compiler |"
    yield "|---|---|---|"
    for row in rows:
        yield f"| `{row.problem}` | {row.mesh} | {' '.join(row.differences) or 'no difference'} |"


def measure(python: str) -> None:
    """Print the table. Raises `BenchmarkFailed` without a GPU or a compiler."""
    gpu = attached_gpu()
    chip, compiler = gpu.chip, compiler_for_gpus()
    of_lens = list(_programs(chip))
    of_device = _by_its_own_compiler([each for _, each in of_lens], chip, python)
    rows = [
        Row(slug, mesh_name(each.mesh), compared(each, device, chip))
        for (slug, each), device in zip(of_lens, of_device, strict=True)
    ]
    print(f"{gpu.name}, driver {gpu.driver}, {compiler}, {datetime.now(UTC):%Y-%m-%d}\n")
    print(*table(rows), sep="\n")
    print(f"\n{sum(not row.differences for row in rows)} of {len(rows)} programs do not differ.")


def _programs(chip: Chip) -> Iterator[tuple[str, Measured]]:
    """The program of each reference on its first mesh, compiled by the lens."""
    from app.entry.cli.local_judge import local_judge
    from grader.review.reader import read_package

    with local_judge() as (judge, context):
        for slug in PROBLEMS:
            package = read_package(CHECKOUT / "problems" / slug)
            yield slug, judge.inspect(package, package.reference, context, chip=chip.name)[0]


def _by_its_own_compiler(programs: Sequence[Measured], chip: Chip, python: str) -> list[ChipFacts]:
    """Compile the same exported programs in a process that may use the GPU."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-real-gpu-") as made:
        folder = Path(made)
        requests = [request_of(folder, number, each, chip) for number, each in enumerate(programs)]
        (folder / "requests.json").write_text(json.dumps(requests), encoding="utf-8")
        command = [python, "-m", "benchmarks.real_gpu", _INSIDE, made]
        done = subprocess.run(command, cwd=CHECKOUT, check=False)
        if done.returncode:
            raise BenchmarkFailed("The GPU's own compiler failed: see its messages above.")
        return [from_json(each) for each in json.loads((folder / "answers.json").read_text(encoding="utf-8"))]


def request_of(folder: Path, number: int, measured: Measured, chip: Chip) -> dict[str, Any]:
    artifact = measured.artifact
    assert artifact is not None
    (folder / f"{number}.bin").write_bytes(artifact.for_chips.get(chip.lowering, artifact.program).tobytes())
    return {
        "file": f"{number}.bin",
        "mesh": measured.mesh,
        "inputs": list(artifact.inputs),
        "state": artifact.state,
        "topology": chip.topology(measured.facts.devices),
    }


def _answer(folder: Path) -> None:
    """Compile the requests of a folder for the attached GPU, and write what the programs are."""
    from grader.program.strict_json import write

    target = _target_of_device()
    requests = json.loads((folder / "requests.json").read_text(encoding="utf-8"))
    answers = [write(compiled(folder, each, target)) for each in requests]
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")


def compiled(folder: Path, request: dict[str, Any], target: str | None) -> ChipFacts:
    """Compile an exported program.

    Args:
      target: the target configuration of the GPU, for which XLA's own kernels are allowed; None to compile as the lens
        does.
    """
    import jax

    from grader.core.chips import slice_of
    from grader.program.buffer_assignment import read_buffer_assignment
    from grader.verifier.chip import chip_facts, devices_of, schedule_for_gpu
    from grader.verifier.load import axis_kinds, lower, read_artifact, read_text

    chip, number = slice_of(request["topology"])
    axes = request["mesh"]
    program = (folder / request["file"]).read_bytes()
    exported, _, _, module = read_artifact(program, axes, request["inputs"], chip=chip.lowering)
    own = {} if target is None else {"xla_gpu_enable_triton_gemm": True}
    devices = devices_of(chip, request["topology"], tuple(axes.values()), target=target)
    mesh = jax.sharding.Mesh(devices, tuple(axes), axis_types=axis_kinds(exported, axes))
    text, assignment = schedule_for_gpu(lower(exported, mesh, request["state"])[0], own)
    return chip_facts(read_text(text), read_buffer_assignment(assignment), number, axes, chip, module.product_lines)


def _target_of_device() -> str:
    """What XLA reads from the attached GPU, as it writes it down with every program that it compiles."""
    import jax

    try:
        [gpu, *_] = jax.devices("gpu")
    except RuntimeError as error:
        raise BenchmarkFailed(f"JAX finds no GPU: {error}. Name an interpreter with jax[cuda12]: --python") from None
    with tempfile.TemporaryDirectory() as dumped, jax.default_device(gpu):
        jax.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={"xla_dump_to": dumped})
        return read_target(Path(dumped))


def read_target(dumped: Path) -> str:
    """The target configuration in a folder into which XLA wrote. Raises `BenchmarkFailed` if there is none."""
    found = sorted(dumped.glob("*gpu_target_config.pbtxt"))
    if not found:
        raise BenchmarkFailed("XLA did not write the target configuration of this GPU.")
    return found[0].read_text(encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="an interpreter with jax[cuda12]")
    parser.add_argument(_INSIDE, type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    try:
        if asked.inside is None:
            measure(asked.python)
        else:
            _answer(asked.inside)
    except BenchmarkFailed as failed:
        sys.exit(str(failed))


if __name__ == "__main__":
    main()
