"""The reference's programs, in memory and on disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core.case import Case
from grader.modes import reference_cache
from grader.modes.program.verify import Examined
from grader.program.facts import from_json, to_json
from grader.program.measurement import Measured, Run, measured_of
from grader.program.tokens import ProgramUnreadable

_FULL_SIZE = "full-size.frame"


@dataclass(frozen=True, slots=True)
class ProgramPrepared:
    """The cases, public ones first, and the reference's programs, in the package's order of meshes.

    `full_size` is the program at `[program.full_size]`, if the package has that.
    """

    cases: tuple[Case, ...]
    examined: tuple[Examined, ...]
    full_size: Measured | None = None


def store(folder: Path, prepared: ProgramPrepared) -> None:
    for number, each in enumerate(prepared.examined):
        _store_examined(folder, number, each)
    if prepared.full_size is not None:
        full = prepared.full_size
        message = {"facts": to_json(full.facts), "mesh": full.mesh, "inputs": full.inputs, "outputs": full.outputs}
        reference_cache.write_frame(folder / _FULL_SIZE, message)
    reference_cache.store_cases(folder, prepared.cases, {}, programs=len(prepared.examined))


def load(folder: Path) -> ProgramPrepared | None:
    """Read what `store` wrote; None if it is missing or incomplete.

    Raises:
      GraderFault: the stored facts do not have the form that a verifier gives them.
    """
    try:
        cases, _, programs = reference_cache.load_cases(folder)
        examined = tuple(_load_examined(folder, number, cases) for number in range(programs))
        full = _load_full_size(folder) if (folder / _FULL_SIZE).exists() else None
        return ProgramPrepared(cases, examined, full)
    except (*reference_cache.UNREADABLE, ProgramUnreadable):
        return None


def _load_full_size(folder: Path) -> Measured:
    message, _ = reference_cache.read_frame(folder / _FULL_SIZE)
    facts = from_json(message["facts"])
    return Measured(message["mesh"], facts, None, (), tuple(message["inputs"]), tuple(message["outputs"]))


def _store_examined(folder: Path, number: int, examined: Examined) -> None:
    """Write one file for the facts, and one for each run."""
    ids = [case.id for case in examined.cases]
    message = {"raw": examined.raw, "mesh": examined.measured.mesh, "inputs": examined.measured.inputs, "cases": ids}
    reference_cache.write_frame(folder / f"program-{number}.frame", message)
    for case_id, run in examined.runs.items():
        values: dict[str, object] = {"init": run.init, "steps": list(run.steps)}
        reference_cache.write_frame(folder / f"program-{number}-{case_id}.frame", {}, values)


def _load_examined(folder: Path, number: int, cases: Sequence[Case]) -> Examined:
    message, _ = reference_cache.read_frame(folder / f"program-{number}.frame")
    served = tuple(case for case in cases if case.id in message["cases"])
    runs = {}
    for case in served:
        _, values = reference_cache.read_frame(folder / f"program-{number}-{case.id}.frame")
        init, steps = values["init"], values["steps"]
        assert isinstance(init, dict)
        assert isinstance(steps, list)
        # Replicas of the reference never differ, which was checked before it was stored.
        runs[case.id] = Run(init, tuple(steps), tuple({} for _ in steps))
    measured = measured_of(message["raw"], message["mesh"], tuple(message["inputs"]))
    return Examined(served, measured, runs, message["raw"])
