"""Files in which the judge keeps what a package's own code returned.

A file is a wire frame, so reading one executes nothing. Of the cases there is one file each, and last a list of them: a
folder without the list counts as empty, so a write that was cut off is repeated.
"""

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader import wire
from grader.case import Case

# What reading a file raises that is missing, was cut off, or was written in another form.
UNREADABLE = (FileNotFoundError, EOFError, KeyError, wire.BadFrame)
_MAX_BYTES = 1 << 30


def store_cases(
    folder: Path, cases: Sequence[Case], more: Mapping[str, dict[str, object]], *, programs: int = 0
) -> None:
    """Write the cases, and with each what `more` has for its id. Write everything else of a package before this."""
    for case in cases:
        values: dict[str, object] = {"inputs": case.inputs, **more.get(case.id, {})}
        write_frame(folder / f"{case.id}.frame", {"public": case.public}, values)
    write_frame(folder / "cases.frame", {"cases": [case.id for case in cases], "programs": programs})


def load_cases(folder: Path) -> tuple[tuple[Case, ...], dict[str, dict[str, object]], int]:
    """Returns the cases, everything that was written with each, by its id, and the number of programs.

    Raises one of `UNREADABLE`.
    """
    listed, _ = read_frame(folder / "cases.frame")
    cases, values_of = [], {}
    for case_id in listed["cases"]:
        message, values = read_frame(folder / f"{case_id}.frame")
        inputs = values["inputs"]
        assert isinstance(inputs, dict)
        cases.append(Case(case_id, message["public"], inputs))
        values_of[case_id] = values
    return tuple(cases), values_of, listed["programs"]


def read_frame(path: Path) -> tuple[dict[str, Any], dict[str, object]]:
    """Raises one of `UNREADABLE`."""
    with path.open("rb") as file:
        return wire.read_frame(file, max_payload_bytes=_MAX_BYTES)


def write_frame(path: Path, message: dict[str, Any], values: dict[str, object] | None = None) -> None:
    """Write the file and its folder; a reader finds all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.draft")
    draft.write_bytes(wire.pack(message, values))
    draft.replace(path)
