"""Who goes first: priorities, fair share between users, and how long one still waits.

Fair share is decided when an attempt is queued, not when it is taken: each attempt of a user gets its turn at least
`SPACING` after that user's last one that waits, and turns are taken in order. So whoever hands in twenty at once holds
nobody up, and nobody who waits is overtaken for ever, since newcomers' turns lie ever later. A worker finds the next
row by one look into an index, however long the queue is.
"""

import math
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.attempts.models import IS_WAITING, AttemptRow
from app.clock import now

# The lowest goes first, whatever the turns.
PRIORITY = {"run": 0, "attempt": 10, "rejudge": 20}
SPACING = timedelta(minutes=1)
_RECENT = 20


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """`ahead`: how many go first, as it looks now. `expected_wait_s` is None before anything was ever graded."""

    ahead: int
    expected_wait_s: int | None


async def line_up(session: AsyncSession, attempt: AttemptRow) -> None:
    """Queue the attempt behind those of the user that wait at its priority. It is part of the session from then on.

    What was graded meanwhile counts no more: nobody owes anything for the time when the queue was short.
    """
    priority = PRIORITY[attempt.kind]
    last = await session.scalar(
        select(func.max(AttemptRow.turn_at)).where(
            AttemptRow.user_id == attempt.user_id,
            AttemptRow.priority == priority,
            AttemptRow.id != attempt.id,
            IS_WAITING,
        )
    )
    attempt.status, attempt.phase, attempt.priority, attempt.tries = "queued", None, priority, 0
    attempt.turn_at = now() if last is None else max(now(), last + SPACING)
    attempt.not_before = None
    session.add(attempt)


def back_off(retry_s: float, tries: int) -> timedelta:
    """How long to wait after this many tries: four times as long after each, up to what the third one waits."""
    return timedelta(seconds=retry_s * 4 ** (min(tries, 3) - 1))


async def place_of(session: AsyncSession, attempt_id: str) -> QueuePlace | None:
    """Where a queued attempt stands; None for any other.

    The wait is that of a line before as many counters as are busy now, at the pace of the latest gradings.
    """
    row = await session.get(AttemptRow, attempt_id)
    if row is None or row.status != "queued":
        return None
    ahead = await session.scalar(
        select(func.count()).where(
            AttemptRow.status == "queued",
            tuple_(AttemptRow.priority, AttemptRow.turn_at, AttemptRow.id) < tuple_(row.priority, row.turn_at, row.id),
        )
    )
    running = await session.scalar(select(func.count()).where(AttemptRow.status == "running"))
    latest = await session.execute(
        select(AttemptRow.started_at, AttemptRow.finished_at)
        .where(AttemptRow.finished_at.is_not(None))
        .order_by(AttemptRow.finished_at.desc())
        .limit(_RECENT)
    )
    # One that was cancelled while it waited has an end and no start.
    took_s = [(end - start).total_seconds() for start, end in latest if start is not None and end is not None]
    return QueuePlace(ahead or 0, _wait_s(ahead or 0, running or 0, took_s, row))


def _wait_s(ahead: int, running: int, took_s: list[float], row: AttemptRow) -> int | None:
    if not took_s:
        return None
    mean_s = max(0.0, sum(took_s) / len(took_s))
    # Where somebody waits, every slot is busy: so those that are busy are all there are.
    wait_s = (ahead + min(running, 1)) * mean_s / max(running, 1)
    backed_off_s = 0.0 if row.not_before is None else (row.not_before - now()).total_seconds()
    return math.ceil(max(wait_s, backed_off_s, 0.0))
