"""The places of queued attempts in line, and when each is likely to be graded."""

import math
import time
from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, String, bindparam, func, null, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.database import Database, UTCDateTime, select_rows
from app.core.prepared_select import PreparedSelect
from app.grading.queue.fair_share import in_line, tables_of_line
from app.grading.queue.models import AttemptRow
from app.grading.queue.status import QueuePlace
from app.grading.queue.workers import count_connected

_RECENT = 20
_PACE_S = 1.0


class Places:
    """The places of queued attempts. Safe to share between requests.

    The expected wait is that of a queue with as many slots as are busy now, at the pace of the latest gradings. Both
    are read at most once per second, however many requests there are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pace = _Pace(-math.inf, 0, None, 0)
        # Built once: building a statement takes as long as executing it, and every page needs this one.
        place = tuple_(
            bindparam("priority", type_=Integer), bindparam("turn_at", type_=UTCDateTime), bindparam("id", type_=String)
        )
        ahead = [
            select(func.count())
            .where(
                rows.status == "queued",
                in_line(rows, long=False),
                tuple_(rows.priority, rows.turn_at, rows.id) < place,
            )
            .scalar_subquery()
            for rows in tables_of_line(long=False)
        ]
        self._ahead = PreparedSelect(select(sum(ahead[1:], start=ahead[0])))
        line = union_all(
            *(
                select(
                    rows.id,
                    rows.priority,
                    rows.turn_at,
                    (rows.not_before if rows is AttemptRow else null()).label("not_before"),
                ).where(rows.status == "queued", in_line(rows, long=False))
                for rows in tables_of_line(long=False)
            )
        ).subquery()
        self._line = select(line.c.id, line.c.not_before).order_by(line.c.priority, line.c.turn_at, line.c.id)

    async def of(self, row: AttemptRow) -> QueuePlace | None:
        """None for an attempt that is not queued."""
        if row.status != "queued":
            return None
        async with self._database.reading() as session:
            values = {"priority": row.priority, "turn_at": row.turn_at, "id": row.id}
            ahead: int = (await select_rows(session, self._ahead, values)).scalar_one()
            pace = await self._current_pace(session)
        return _place(ahead, pace, row.not_before)

    async def of_those(self, session: AsyncSession, ids: Set[str]) -> dict[str, QueuePlace]:
        """The places of those of these attempts that are queued: one statement, which reads the whole line."""
        line = (await session.execute(self._line)).all()
        found = [(ahead, *each) for ahead, each in enumerate(line) if each.id in ids]
        if not found:
            return {}
        pace = await self._current_pace(session)
        return {attempt_id: _place(ahead, pace, not_before) for ahead, attempt_id, not_before in found}

    async def _current_pace(self, session: AsyncSession) -> "_Pace":
        if time.monotonic() - self._pace.read_at >= _PACE_S:
            self._pace = await _read_pace(session)
        return self._pace


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


def _place(ahead: int, pace: _Pace, not_before: datetime | None) -> QueuePlace:
    return QueuePlace(ahead=ahead, expected_wait_s=_wait_s(ahead, pace, not_before), workers=pace.workers)


def _wait_s(ahead: int, pace: _Pace, not_before: datetime | None) -> int | None:
    if pace.mean_s is None or pace.workers == 0:
        return None
    # If anyone waits, every slot is busy, so the busy ones are all there are.
    wait_s = (ahead + min(pace.running, 1)) * pace.mean_s / max(pace.running, 1)
    backed_off_s = 0.0 if not_before is None else (not_before - now()).total_seconds()
    return math.ceil(max(wait_s, backed_off_s, 0.0))
