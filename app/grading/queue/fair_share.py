"""The line: one order for all work of the judge, fair between those who wait for it.

Everyone who waits is a *share*: each user, each network that guests come from, all rejudges together, and all
validations together. The line consists of rounds, and in each round a share has one piece of work. A newcomer joins the
round that is being served, or the next one if it has been served in this one. So at most one piece of every other share
goes before a user's only piece, or two if the user has just been served, however much the others have sent.
Within a round, work that someone is watching goes before attempts, then validations, then rejudges (`CLASSES`).

A free slot goes to the share with the least work running, and among those to the first in line.

A piece gets its round when it is queued, so a worker finds the next one with a few index lookups, however long the line
is. See docs/decisions/0010-fair-share-is-a-round.md.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    String,
    bindparam,
    func,
    literal,
    select,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.database import Database, UTCDateTime, insert_into
from app.grading.queue.models import IS_WAITING, AttemptRow, FairShareRow, WorkRow
from app.grading.queue.status import QueuePlace
from app.grading.queue.workers import count_connected

# The order within a round.
CLASSES = {"run": 0, "exploration": 0, "lesson_run": 0, "attempt": 1, "validation": 2, "rejudge": 3}
# Of the service itself. All others belong to a user.
VALIDATIONS, REJUDGES = "validations", "rejudges"
_PLACES = 1 + max(CLASSES.values())
# How many of the first in line are compared by what their shares have running.
_COMPARED = 32
_RECENT = 20
_PACE_S = 1.0


def work_tables() -> list[type[WorkRow]]:
    """The tables of all kinds of work that this process knows."""
    found: list[type[WorkRow]] = []
    unseen = WorkRow.__subclasses__()
    while unseen:
        each = unseen.pop(0)
        unseen += each.__subclasses__()
        if hasattr(each, "__tablename__"):
            found.append(each)
    return found


async def line_up(session: AsyncSession, row: WorkRow) -> None:
    """Queue the work behind what its share already has in line. This adds it to the session.

    Work that has been done does not count: a user pays nothing for the time when the line was short.
    """
    # A guest's work takes turns with everyone's attempts.
    kind = "attempt" if getattr(row, "guest", None) else row.work()
    user_id = getattr(row, "user_id", None)
    row.share = row.share or user_id
    tables = tuple(work_tables())
    newest, served, *places = (await session.execute(_rounds(tables), {"share": row.share})).one()
    waiting = [each for each in places[: len(tables)] if each is not None]
    own = [each for each in places[len(tables) :] if each is not None]
    # The round that is being served: the first of those that wait.
    serving = min(waiting) // _PLACES if waiting else max(0, newest or 0)
    if served is None:
        owner = None if row.share in (VALIDATIONS, REJUDGES) else user_id
        first = insert_into(session, FairShareRow).values(share=row.share, user_id=owner, round=serving - 1)
        await session.execute(first.on_conflict_do_nothing())
    joined = serving if served is None else min(max(serving, served + 1), serving + 1)
    if own:
        joined = max(joined, max(own) // _PLACES + 1)
    row.status, row.tries = "queued", 0
    if isinstance(row, AttemptRow):
        row.phase = row.not_before = None
    row.priority, row.turn_at = joined * _PLACES + CLASSES[kind], now()
    session.add(row)


@cache
def _rounds(tables: tuple[type[WorkRow], ...]) -> Select[Any]:
    """The newest round, in which the share was served, and for each table: its first place, and the share's last."""
    share = bindparam("share", type_=String)
    return select(
        select(func.max(FairShareRow.round)).scalar_subquery(),
        select(FairShareRow.round).where(FairShareRow.share == share).scalar_subquery(),
        *(select(func.min(each.priority)).where(each.status == "queued").scalar_subquery() for each in tables),
        *(select(func.max(each.priority)).where(each.share == share, IS_WAITING).scalar_subquery() for each in tables),
    )


class Line:
    """The first in line, of some kinds of work.

    Args:
      kinds: the table of each, and the conditions on its rows.
    """

    def __init__(self, kinds: Sequence[tuple[type[WorkRow], Sequence[ColumnElement[bool]]]]) -> None:
        heads = [
            select(literal(number).label("number"), rows.id, rows.share, rows.priority, rows.turn_at)
            .where(rows.is_due(), *conditions)
            .order_by(rows.priority, rows.turn_at, rows.id)
            .limit(_COMPARED)
            .subquery()
            for number, (rows, conditions) in enumerate(kinds)
        ]
        # Built once, as in `Places`.
        self._first = union_all(*(select(each) for each in heads))

    async def first(self, session: AsyncSession) -> list[tuple[int, str]]:
        """The work to take now: the number of its kind, and its id. The next ones follow, in case others take it."""
        waiting = (await session.execute(self._first)).all()
        if not waiting:
            return []
        running = await _running(session)
        in_order = sorted(waiting, key=lambda each: (running.get(each.share, 0), each.priority, each.turn_at, each.id))
        return [(each.number, each.id) for each in in_order]


async def _running(session: AsyncSession) -> dict[str, int]:
    """How many pieces of work each share has running."""
    busy = union_all(*(select(rows.share).where(rows.status == "running") for rows in work_tables())).subquery()
    return {
        share: count for share, count in await session.execute(select(busy.c.share, func.count()).group_by("share"))
    }


async def serve(session: AsyncSession, row: WorkRow) -> None:
    """The work is taken: its share has been served in this round."""
    served = row.priority // _PLACES
    of_share = update(FairShareRow).where(FairShareRow.share == row.share, FairShareRow.round < served)
    await session.execute(of_share.values(round=served).execution_options(synchronize_session=False))


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
        # Built once: building a statement takes as long as executing it, and every page needs this one.
        place = tuple_(
            bindparam("priority", type_=Integer), bindparam("turn_at", type_=UTCDateTime), bindparam("id", type_=String)
        )
        ahead = [
            select(func.count())
            .where(rows.status == "queued", tuple_(rows.priority, rows.turn_at, rows.id) < place)
            .scalar_subquery()
            for rows in work_tables()
        ]
        self._ahead = select(sum(ahead[1:], start=ahead[0]))

    async def of(self, row: AttemptRow) -> QueuePlace | None:
        """None for an attempt that is not queued."""
        if row.status != "queued":
            return None
        async with self._database.reading() as session:
            ahead = await session.scalar(self._ahead, {"priority": row.priority, "turn_at": row.turn_at, "id": row.id})
            if time.monotonic() - self._pace.read_at >= _PACE_S:
                self._pace = await _read_pace(session)
        wait_s = _wait_s(ahead or 0, self._pace, row)
        return QueuePlace(ahead=ahead or 0, expected_wait_s=wait_s, workers=self._pace.workers)


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
