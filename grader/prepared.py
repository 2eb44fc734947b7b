"""What a package's own code said, in memory and on disk.

One file a case, and last the list of them: without the list a folder counts as empty, so a write that was cut off is
made again. A file is a wire frame, so reading one executes nothing.
"""

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.checks.outcome import Answer, Case
from grader.runner import wire

_MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Known:
    """A known wrong submission: what its author misunderstood, and what it returns, by case id."""

    misunderstanding: str
    results: dict[str, object]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the judge needs to grade by, public cases first."""

    cases: tuple[Case, ...]
    answers: dict[str, Answer]


def answer_of(values: dict[str, object]) -> Answer:
    """Read a reply to `call`. What the spies say is taken only in the form in which they say it."""
    observed = values.get("observed")
    events = [event for event in observed if isinstance(event, dict)] if isinstance(observed, list) else []
    return Answer(values.get("result"), events)


def store_prepared(folder: Path, prepared: Prepared) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for case in prepared.cases:
        answer = prepared.answers[case.id]
        values: dict[str, object] = {"inputs": case.inputs, "result": answer.result, "observed": answer.observed}
        _write(folder / f"{case.id}.frame", wire.pack({"public": case.public}, values))
    _write(folder / "cases.frame", wire.pack({"cases": [case.id for case in prepared.cases]}))


def load_prepared(folder: Path) -> Prepared | None:
    """None where it has not been stored, or not to the end."""
    cases, answers = [], {}
    try:
        for case_id in _read(folder / "cases.frame")[0]["cases"]:
            message, values = _read(folder / f"{case_id}.frame")
            inputs = values["inputs"]
            assert isinstance(inputs, dict)
            cases.append(Case(case_id, message["public"], inputs))
            answers[case_id] = answer_of(values)
    except (FileNotFoundError, EOFError, wire.BadFrame):
        return None
    return Prepared(tuple(cases), answers)


def store_known(folder: Path, known: tuple[Known, ...]) -> None:
    for number, each in enumerate(known):
        message = {"misunderstanding": each.misunderstanding}
        _write(folder / f"known-{number}.frame", wire.pack(message, each.results))
    _write(folder / "known.frame", wire.pack({"known": len(known)}))


def load_known(folder: Path) -> tuple[Known, ...] | None:
    """None where it has not been stored, or not to the end."""
    known = []
    try:
        for number in range(_read(folder / "known.frame")[0]["known"]):
            message, results = _read(folder / f"known-{number}.frame")
            known.append(Known(message["misunderstanding"], results))
    except (FileNotFoundError, EOFError, wire.BadFrame):
        return None
    return tuple(known)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, object]]:
    with path.open("rb") as file:
        return wire.read_frame(file, max_payload_bytes=_MAX_BYTES)


def _write(path: Path, frame: bytes) -> None:
    draft = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.draft")
    draft.write_bytes(frame)
    draft.replace(path)
