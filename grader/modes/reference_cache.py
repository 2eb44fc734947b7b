"""The judge's cache files: what a package's own code returned.

Each file is a wire frame, so reading one executes nothing. There is one file per case, and a list of the cases that is
written last: a folder without the list counts as empty, so an interrupted write is repeated.
"""

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.core import wire
from grader.core.case import Case

# Raised when a file is missing, incomplete, or of another form.
UNREADABLE = (FileNotFoundError, EOFError, KeyError, wire.BadFrame)
_MAX_BYTES = 1 << 30


def store_cases(
    folder: Path, cases: Sequence[Case], more: Mapping[str, dict[str, object]], *, programs: int = 0
) -> None:
    """Write the cases, each with the values in `more` for its id. Write a package's other files before this."""
    for case in cases:
        values: dict[str, object] = {"inputs": case.inputs, **more.get(case.id, {})}
        write_frame(folder / f"{case.id}.frame", {"public": case.public}, values)
    write_frame(folder / "cases.frame", {"cases": [case.id for case in cases], "programs": programs})


def load_cases(folder: Path) -> tuple[tuple[Case, ...], dict[str, dict[str, object]], int]:
    """Return the cases, the values that were written with each by case id, and the number of programs.

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
    """Return the message and the values of a file. Raises one of `UNREADABLE`."""
    with path.open("rb") as file:
        return wire.read_frame(file, max_payload_bytes=_MAX_BYTES)


def write_frame(path: Path, message: dict[str, Any], values: dict[str, object] | None = None) -> None:
    """Create the folder and write the file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.draft")
    draft.write_bytes(wire.pack(message, values))
    draft.replace(path)
