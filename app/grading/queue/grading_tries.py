"""What happened to an attempt between submission and verdict, for support: each try, its worker, its phases, its end.

A column of the attempt has it as JSON, written together with the end of each try, so it costs no extra write.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from app.core.view import View

End = Literal["finished", "failed", "stopped", "died", "cancelled"]
Phases = Sequence[tuple[int, str]]
# A service that restarts often returns an attempt often, and a problem may have many cases.
_MOST_TRIES = 20
MOST_PHASES = 100
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class GradingProcess:
    """Who leases work. `name` is `MESHGRADE_WORKER_NAME`, and `code` the grader (grader/core/code_digest.py)."""

    name: str
    code: str


class Phase(View):
    """`after_ms` counts from the start of the try."""

    after_ms: int
    phase: str


class Try(View):
    """`worker` is the name of a process (`MESHGRADE_WORKER_NAME`), and `code` its grader.
    `end` is null while the try is running.

    `failed`: the grader failed, and `message` says how. `stopped`: the worker was shut down, or a wall was missing, and
    the try does not count. `died`: the worker no longer extended its lease.
    """

    worker: str
    code: str
    started_at: datetime
    ended_at: datetime | None
    end: End | None
    message: str
    phases: tuple[Phase, ...]


def begin(stored: list[Any] | None, at: datetime, by: GradingProcess) -> list[Any]:
    """The column with a try by this process that has just begun."""
    begun = {"worker": by.name, "code": by.code, "started_at": at.isoformat(), "end": None}
    return [*(stored or []), begun][-_MOST_TRIES:]


def conclude(stored: list[Any] | None, at: datetime, end: End, phases: Phases = (), message: str = "") -> list[Any]:
    """The column with the end of its last try."""
    if not stored:
        return []
    ended = {"ended_at": at.isoformat(), "end": end, "message": message[:_LONGEST].replace("\0", "\ufffd")}
    return [*stored[:-1], {**stored[-1], **ended, "phases": [list(each) for each in phases]}]


def tries_of(stored: list[Any] | None) -> list[Try]:
    """The oldest first. Empty if the attempt has not been leased."""
    return [
        Try(
            worker=each["worker"],
            code=each["code"],
            started_at=datetime.fromisoformat(each["started_at"]),
            ended_at=datetime.fromisoformat(each["ended_at"]) if each.get("ended_at") else None,
            end=cast(End | None, each["end"]),
            message=each.get("message", ""),
            phases=tuple(Phase(after_ms=after_ms, phase=phase) for after_ms, phase in each.get("phases", ())),
        )
        for each in stored or []
    ]
