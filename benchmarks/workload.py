"""What is measured: one accepted submission of a problem, and the cases that grade it, public and hidden."""

import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchmarkFailed
from grader.package.package import Package
from grader.package.reader import read_package
from grader.references import References
from grader.runner import wire
from grader.sandbox.null import NullSandbox

CHECKOUT = Path(__file__).resolve().parent.parent
SLUG = "fsdp_step"
_SUBMISSION = "literal"


@dataclass(frozen=True, slots=True)
class Workload:
    """`file` holds `source`, for the plain processes; `frames` holds a wire frame for each of the `cases`."""

    package: Package
    source: str
    file: Path
    frames: Path
    cases: int


def copy_package(problems: Path) -> Package:
    """Put the problem alone into a folder of problems, and read it there.

    Its submissions with wrong answers are left out: a service runs them at its start, to recognise those answers
    later, and no figure here is about a wrong answer.
    """
    folder = problems / SLUG
    shutil.copytree(CHECKOUT / "problems" / SLUG, folder, ignore=shutil.ignore_patterns("wrong_*", "__pycache__"))
    return read_package(folder)


def take_workload(package: Package, data: Path, folder: Path, *, hidden: bool) -> Workload:
    """Write the submission and the cases of a service to `folder`, as its judge has prepared them in `data`.

    Args:
      data: the data folder of a service that has said that the problem is ready.
      hidden: False for the public cases alone.
    Raises:
      BenchmarkFailed: the service has not prepared them.
    """
    references = References(NullSandbox(_refuse), (data / "secret").read_bytes(), data / "cache")
    prepared = references.prepare(package, lambda phase: None, threading.Event())
    folder.mkdir()
    file, frames = folder / "submission.py", folder / "cases"
    source = next(known.source for known in package.accepted if known.name.endswith(_SUBMISSION))
    file.write_text(source)
    frames.mkdir()
    cases = [case for case in prepared.cases if case.public or hidden]
    for number, case in enumerate(cases):
        values: dict[str, object] = {"inputs": case.inputs, "result": prepared.answers[case.id].result}
        (frames / f"{number:03d}.frame").write_bytes(wire.pack({}, values))
    return Workload(package, source, file, frames, len(cases))


def _refuse(message: dict[str, Any], values: dict[str, object]) -> Any:
    raise BenchmarkFailed("the cases that the service prepared were not found in its data folder")
