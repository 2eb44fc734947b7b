"""What a package's own code said, in memory and on disk.

One file a case, and last the list of them: without the list a folder counts as empty, so a write that was cut off is
made again. A file is a wire frame, so reading one executes nothing.
"""

import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from grader import wire
from grader.case import Case
from grader.checks.call.outcome import Answer
from grader.modes.program.signatures import Signature
from grader.modes.program.verify import Examined
from grader.program.measured import Run, measured_of
from grader.program.tokens import ProgramUnreadable

_MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class KnownMistake:
    """A known wrong submission: what its author misunderstood, and what it returns, by case id.

    In program mode `results` are sketches, and `pattern` says how its program is built. Without any of them it tells
    nothing, and no submission is like it.
    """

    misunderstanding: str
    results: dict[str, object]
    pattern: dict[str, object] = field(default_factory=dict)


class AskForKnownMistakes(Protocol):
    """Ask for known wrong submissions, those first that this one is likeliest to be.

    `wrong_result` asks for those whose result is wrong; else for those that are built in a wrong way.
    """

    def __call__(self, *, wrong_result: bool) -> Iterable[KnownMistake]: ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the judge needs to grade by, public cases first: answers in call mode, programs in program mode."""

    cases: tuple[Case, ...]
    answers: dict[str, Answer]
    examined: tuple[Examined, ...] = ()


def answer_of(values: dict[str, object]) -> Answer:
    """Read a reply to `call`. What the spies say is taken only in the form in which they say it."""
    observed = values.get("observed")
    events = [event for event in observed if _is_event(event)] if isinstance(observed, list) else []
    return Answer(values.get("result"), events)


def _is_event(event: object) -> bool:
    """Has it the form that grader/runner/observe.py gives to an event? A submission can send any other."""
    match event:
        case {
            "event": str(),
            "tx": str(),
            "momentum": bool(),
            "wrt": str(),
            "lr": (float() | None),
            "gradients": dict(gradients),
            "updates": dict(updates),
            "model": str(),
        }:
            return all(isinstance(leaf, np.ndarray) for leaf in (*gradients.values(), *updates.values()))
    return False


def store_prepared(folder: Path, prepared: Prepared) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for case in prepared.cases:
        values: dict[str, object] = {"inputs": case.inputs}
        if case.id in prepared.answers:
            answer = prepared.answers[case.id]
            values |= {"result": answer.result, "observed": answer.observed}
        _write(folder / f"{case.id}.frame", wire.pack({"public": case.public}, values))
    for number, each in enumerate(prepared.examined):
        _store_examined(folder, number, each)
    listed = {"cases": [case.id for case in prepared.cases], "programs": len(prepared.examined)}
    _write(folder / "cases.frame", wire.pack(listed))


def load_prepared(folder: Path) -> Prepared | None:
    """None where it has not been stored, or not to the end.

    Raises:
      GraderFault: what is stored of a program is not what a verifier says.
    """
    cases, answers = [], {}
    try:
        listed = _read(folder / "cases.frame")[0]
        for case_id in listed["cases"]:
            message, values = _read(folder / f"{case_id}.frame")
            inputs = values["inputs"]
            assert isinstance(inputs, dict)
            cases.append(Case(case_id, message["public"], inputs))
            if "result" in values:
                answers[case_id] = answer_of(values)
        examined = tuple(_load_examined(folder, number, cases) for number in range(listed["programs"]))
    except (FileNotFoundError, EOFError, KeyError, wire.BadFrame, ProgramUnreadable):
        return None
    return Prepared(tuple(cases), answers, examined)


def _store_examined(folder: Path, number: int, examined: Examined) -> None:
    """A file for what was measured, and one for each run."""
    ids = [case.id for case in examined.cases]
    message = {"raw": examined.raw, "mesh": examined.measured.mesh, "inputs": examined.measured.inputs, "cases": ids}
    _write(folder / f"program-{number}.frame", wire.pack(message))
    for case_id, run in examined.runs.items():
        values: dict[str, object] = {"init": run.init, "steps": list(run.steps)}
        _write(folder / f"program-{number}-{case_id}.frame", wire.pack({}, values))


def _load_examined(folder: Path, number: int, cases: Sequence[Case]) -> Examined:
    message, _ = _read(folder / f"program-{number}.frame")
    signature = Signature((), tuple(message["inputs"]), tuple(case for case in cases if case.id in message["cases"]))
    runs = {}
    for case in signature.cases:
        _, values = _read(folder / f"program-{number}-{case.id}.frame")
        init, steps = values["init"], values["steps"]
        assert isinstance(init, dict)
        assert isinstance(steps, list)
        # Of the reference itself no replicas differ: that was seen when it was stored.
        runs[case.id] = Run(init, tuple(steps), tuple({} for _ in steps))
    return Examined(
        signature.cases, measured_of(message["raw"], message["mesh"], signature.inputs), runs, message["raw"]
    )


def store_known(folder: Path, name: str, known: KnownMistake) -> None:
    """`name` is the submission's, such as `wrong_value/summed_twice`."""
    message = {"misunderstanding": known.misunderstanding, "pattern": known.pattern}
    _write(_known_file(folder, name), wire.pack(message, known.results))


def load_known(folder: Path, name: str) -> KnownMistake | None:
    """None where it has not been stored."""
    try:
        message, results = _read(_known_file(folder, name))
        return KnownMistake(message["misunderstanding"], results, message["pattern"])
    except (FileNotFoundError, EOFError, KeyError, wire.BadFrame):
        return None


def _known_file(folder: Path, name: str) -> Path:
    return folder / f"known-{name.replace('/', '-')}.frame"


def _read(path: Path) -> tuple[dict[str, Any], dict[str, object]]:
    with path.open("rb") as file:
        return wire.read_frame(file, max_payload_bytes=_MAX_BYTES)


def _write(path: Path, frame: bytes) -> None:
    draft = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.draft")
    draft.write_bytes(frame)
    draft.replace(path)
