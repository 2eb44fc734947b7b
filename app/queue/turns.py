"""The order of the queue: priorities, fair shares between users, and the expected wait.

Fair share is decided when an attempt is queued, not when it is leased. Each attempt of a user gets a turn at least
`SPACING` after that user's last waiting one, and attempts are leased in the order of their turns. So a user who submits
twenty at once delays nobody, and nobody waits forever, because newcomers get later and later turns. A worker finds the
next row with one index lookup, however long the queue is.
"""

import math
import time
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Integer, bindparam, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock import now
from app.database import Database, UTCDateTime
from app.queue.models import IS_WAITING, AttemptRow
from app.queue.workers import count_connected

# The lowest goes first, regardless of turns.
PRIORITY = {"run": 0, "attempt": 10, "rejudge": 20}
SPACING = timedelta(minutes=1)
_RECENT = 20
_PACE_S = 1.0
# Built once: building a statement takes as long as executing it, and every page needs this one.
_AHEAD = select(func.count()).where(
    AttemptRow.status == "queued",
    tuple_(AttemptRow.priority, AttemptRow.turn_at, AttemptRow.id)
    < tuple_(bindparam("priority", type_=Integer), bindparam("turn_at", type_=UTCDateTime), bindparam("id")),
)


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """`ahead` is how many go first at the moment. `expected_wait_s` is None before anything was ever graded. `workers`
    is how many processes can grade.
    """

    ahead: int
    expected_wait_s: int | None
    workers: int = 0


async def line_up(session: AsyncSession, attempt: AttemptRow) -> None:
    """Queue the attempt behind the user's waiting attempts of its priority. This adds it to the session.

    Attempts that have already been graded do not count: a user pays nothing for the time when the queue was short.
    """
    # A guest's run takes turns with everyone's attempts and delays nobody's run. All guests are one user here.
    priority = PRIORITY["attempt" if attempt.guest else attempt.kind]
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
    """How long to wait after this many tries. The wait quadruples after each one, up to the third."""
    return timedelta(seconds=retry_s * 4 ** (min(tries, 3) - 1))


class Places:
    """The places of queued attempts. Safe to share between requests.

    The expected wait is that of a queue with as many slots as are busy now, at the pace of the latest gradings. Both
    are read at most once per second, however many requests there are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pace = _Pace(-math.inf, 0, None, 0)

    async def of(self, row: AttemptRow) -> QueuePlace | None:
        """None for an attempt that is not queued."""
        if row.status != "queued":
            return None
        async with self._database.reading() as session:
            ahead = await session.scalar(_AHEAD, {"priority": row.priority, "turn_at": row.turn_at, "id": row.id})
            if time.monotonic() - self._pace.read_at >= _PACE_S:
                self._pace = await _read_pace(session)
        return QueuePlace(ahead or 0, _wait_s(ahead or 0, self._pace, row), self._pace.workers)


@dataclass(frozen=True, slots=True)
class _Pace:
    """`mean_s` of the latest gradings is None before anything was ever graded."""

    read_at: float
    running: int
    mean_s: float | None
    workers: int


async def _read_pace(session: AsyncSession) -> _Pace:
    running = await session.scalar(select(func.count()).where(AttemptRow.status == "running"))
    latest = await session.execute(
        select(AttemptRow.started_at, AttemptRow.finished_at)
        .where(AttemptRow.finished_at.is_not(None))
        .order_by(AttemptRow.finished_at.desc())
        .limit(_RECENT)
    )
    # An attempt that was cancelled while it waited has an end but no start.
    took_s = [(end - start).total_seconds() for start, end in latest if start is not None and end is not None]
    mean_s = max(0.0, sum(took_s) / len(took_s)) if took_s else None
    return _Pace(time.monotonic(), running or 0, mean_s, await count_connected(session))


def _wait_s(ahead: int, pace: _Pace, row: AttemptRow) -> int | None:
    if pace.mean_s is None:
        return None
    # If anyone waits, every slot is busy, so the busy ones are all there are.
    wait_s = (ahead + min(pace.running, 1)) * pace.mean_s / max(pace.running, 1)
    backed_off_s = 0.0 if row.not_before is None else (row.not_before - now()).total_seconds()
    return math.ceil(max(wait_s, backed_off_s, 0.0))
