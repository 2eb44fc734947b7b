"""The workload: one accepted submission of a problem, and the public and hidden cases that grade it."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.data_folder import judging_secret_of, read_secret
from benchmarks.errors import BenchmarkFailed
from grader.core import wire
from grader.core.context import QUIET
from grader.judging.references import References
from grader.modes import Modes
from grader.modes.program.reference_programs import ProgramPrepared
from grader.package.package import KnownSubmission, Package
from grader.package.pitfalls import without_marks
from grader.review.reader import read_package
from grader.sandbox.null_sandbox import NullSandbox

CHECKOUT = Path(__file__).resolve().parent.parent
CALL_SLUG = "fsdp_step"
PROGRAM_SLUG = "fsdp_shard_map_step"
_RUN_AT_START = ("wrong_*", "too_much_*", "not_donated", "retraced")
Choose = Callable[[Package], KnownSubmission]


@dataclass(frozen=True, slots=True)
class Workload:
    """`name` is the submission's. `file` holds its source for plain processes, and `frames` is a folder of cases."""

    package: Package
    name: str
    source: str
    file: Path
    frames: Path
    cases: int


def copy_package(slug: str, problems: Path) -> Package:
    """Copy the problem into an empty folder of problems, and read it there.

    Most of its wrong submissions are left out. A service runs those at its start, so that it recognises their results
    and programs later, and no figure here is about a wrong submission.
    """
    folder = problems / slug
    shutil.copytree(CHECKOUT / "problems" / slug, folder, ignore=shutil.ignore_patterns(*_RUN_AT_START, "__pycache__"))
    # The statement names submissions that are left out.
    statement = folder / "statement.md"
    statement.write_text(without_marks(statement.read_text()))
    return read_package(folder)


def take_workload(package: Package, chosen: KnownSubmission, data: Path, folder: Path, *, hidden: bool) -> Workload:
    """Write the submission and the cases of a service to `folder`, as its judge has prepared them in `data`.

    Args:
      data: the data folder of a service that has said that the problem is ready.
      hidden: False for only the public cases.
    Raises:
      BenchmarkFailed: the service has not prepared them.
    """
    secret = judging_secret_of(read_secret(data))
    references = References(Modes(NullSandbox(_refuse), secret), secret, data / "cache")
    prepared = references.prepare(package, QUIET)
    folder.mkdir()
    file, frames = folder / "submission.py", folder / "cases"
    file.write_text(chosen.source)
    frames.mkdir()
    cases = [case for case in prepared.cases if case.public or hidden]
    for number, case in enumerate(cases):
        values: dict[str, object] = {"inputs": case.inputs}
        if package.manifest.mode == "call":
            values["result"] = prepared.answers[case.id].result
        else:
            values["losses"] = _losses(case.id, prepared)
        (frames / f"{number:03d}.frame").write_bytes(wire.pack({}, values))
    return Workload(package, chosen.name, chosen.source, file, frames, len(cases))


def _losses(case_id: str, prepared: ProgramPrepared) -> list[object]:
    """Return the reference's loss of each step for each mesh, in the package's order."""
    runs = [each.runs[case_id] for each in prepared.examined if case_id in each.runs]
    return [[step["loss"] for step in run.steps] for run in runs]


def _refuse(message: dict[str, Any], values: dict[str, object]) -> Any:
    raise BenchmarkFailed("the cases that the service prepared were not found in its data folder")
