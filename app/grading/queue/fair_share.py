"""The two lines: one order for the judge's work of each kind of slot, fair between those who wait for it.

Work that takes seconds waits in one line, and work that can take minutes in the other (`WorkRow.is_long`), because no
slot takes both. What waits in one line decides nothing in the other.

Everyone who waits is a *share*: each user, each network that guests come from, all rejudges together, and all
validations together. A line consists of rounds, and in each round a share has one piece of work. The current round is
the newest one in which a share was served. A newcomer joins it, and anyone who has been served in it joins the next
one. So while a user's first piece waits, at most one piece of every other share goes before it.

Within a round, those who were served in the one before come first, in the order in which they were served. Of the
others, work that someone is watching goes before attempts, then validations, then rejudges (`Turn`).

A free slot goes to the share with the least work running, and among those to the first in line.

A piece gets its round when it is queued, so a worker finds the next one with a few index lookups, however long the line
is. Its share's pieces are numbered again if something kept them from being served: a failed try that must wait, work of
the same share that ran, or a rejudge too many. What only waits for its next try holds up nobody.
See docs/decisions/0010-fair-share-is-a-round.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CursorResult,
    Integer,
    Select,
    String,
    Update,
    bindparam,
    delete,
    func,
    literal,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.elements import False_

from app.core.clock import now
from app.core.database import FromNow, UTCDateTime, insert_into, select_rows
from app.core.prepared_select import PreparedSelect
from app.grading.queue.models import IS_WAITING, AttemptRow, FairShareRow, KindOfWork, OwnedRow, Turn, WorkRow

# Of the service itself. All others belong to a user.
VALIDATIONS, REJUDGES = "validations", "rejudges"
_PLACES = len(Turn)
# How many of the first in line are compared by what their shares have running.
_COMPARED = 32
_NEVER = -1
_NO_SYNC = {"synchronize_session": False}


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


def kinds_of_work() -> list[KindOfWork]:
    """Return all kinds of work that this process knows, in the order of their turns."""
    kinds = (each for rows in work_tables() for each in rows.kinds)
    return sorted(kinds, key=lambda each: (each.turn, each.plural))


async def line_up(session: AsyncSession, row: WorkRow) -> None:
    """Queue the work behind what its share already has in line. This adds it to the session.

    Work that has been done does not count: a user pays nothing for the time when the line was short.
    """
    # A guest's work takes turns with everyone's attempts.
    turn = Turn.ATTEMPT if _is_guests(row) else row.kind_of_work.turn
    user_id = row.user_id if isinstance(row, OwnedRow) else None
    row.share = row.share or user_id
    standing = await _standing(session, row.share, long=row.long)
    if standing.served is None:
        owner = None if row.share in (VALIDATIONS, REJUDGES) else user_id
        first = insert_into(session, FairShareRow).values(share=row.share, user_id=owner, round=_NEVER)
        await session.execute(first.on_conflict_do_nothing())
    row.status, row.tries = "queued", 0
    if isinstance(row, AttemptRow):
        row.phase = row.not_before = None
    place = _Place(standing.joins, turn, standing.at)
    if standing.last is not None:
        place.round = max(place.round, standing.last + 1)
    elif standing.is_again:
        place.follow(is_guest=_is_guests(row))
    row.priority, row.turn_at = place.priority, place.at
    session.add(row)


async def line_up_again(session: AsyncSession, row: WorkRow) -> None:
    """Give work that goes back for another try a place after its share's last turn."""
    served_in = select(_round(long=row.long)).where(FairShareRow.share == row.share)
    served, at = (await session.execute(select(served_in.scalar_subquery(), FromNow()))).one()
    if served is not None:
        place = _Place(max(row.priority // _PLACES, served + 1), row.priority % _PLACES, _moment(session, at))
        place.follow(is_guest=_is_guests(row))
        row.priority, row.turn_at = place.priority, place.at


async def serve(session: AsyncSession, row: WorkRow) -> None:
    """The work is taken: its share has been served in the current round, and its next piece has its turn in the next.

    The caller has locked the row, and its status is still `queued`.
    """
    long, tables = row.long, tables_of_line(long=row.long)
    mine = {"mine": row.share, "taken": row.id}
    newest, by_database, *places = (await session.execute(_following(tables, long=long), mine)).one()
    served, at = max(row.priority // _PLACES, newest or 0), _moment(session, by_database)
    await session.execute(_serve(long=long), {"mine": row.share, "served": served}, execution_options=_NO_SYNC)
    behind = [(place, number) for number, place in enumerate(places) if place is not None]
    if not behind:
        return
    first, number = min(behind)
    if first // _PLACES == served + 1:
        place = _Place(served + 1, first % _PLACES, at)
        place.follow(is_guest=_is_guests(row))
        values = mine | {"first": first, "place": place.priority, "at": at}
        moved = await session.execute(_advance(tables, number, long=long), values, execution_options=_NO_SYNC)
        if isinstance(moved, CursorResult) and moved.rowcount:
            return
    await _number(session, row, await _pieces(session, row), served + 1, at, follow=True)


async def close_up(session: AsyncSession, row: WorkRow) -> None:
    """The work has left the line without being served: what its share has behind it moves up."""
    await session.flush()
    pieces = await _pieces(session, row)
    due = [each for each in pieces if each.is_due]
    if due:
        standing = await _standing(session, row.share, long=row.long)
        if due[0].round > standing.joins:
            await _number(session, row, pieces, standing.joins, standing.at, follow=standing.is_again)


async def forget_shares(session: AsyncSession, user_id: str) -> None:
    """Delete the shares of a user, but not which rounds are the current ones: otherwise, they would start again."""
    others = FairShareRow.user_id.is_distinct_from(user_id)
    for served_in in (FairShareRow.round, FairShareRow.long_round):
        newest = select(func.max(served_in)).scalar_subquery()
        last = select(FairShareRow.share).where(others, served_in.is_not(None)).order_by(served_in.desc()).limit(1)
        keep = update(FairShareRow).where(FairShareRow.share == last.scalar_subquery()).values({served_in: newest})
        await session.execute(keep.execution_options(synchronize_session=False))
    await session.execute(delete(FairShareRow).where(FairShareRow.user_id == user_id))


def _is_guests(row: WorkRow) -> bool:
    return isinstance(row, OwnedRow) and row.guest is not None


def _round(*, long: bool) -> InstrumentedAttribute[Any]:
    return FairShareRow.long_round if long else FairShareRow.round


def tables_of_line(*, long: bool) -> tuple[type[WorkRow], ...]:
    """The tables with work that may wait in this line."""
    return _those_in_line(tuple(work_tables()), long=long)


@cache
def _those_in_line(tables: tuple[type[WorkRow], ...], *, long: bool) -> tuple[type[WorkRow], ...]:
    return tuple(each for each in tables if not isinstance(in_line(each, long=long), False_))


def in_line(rows: type[WorkRow], *, long: bool) -> ColumnElement[bool]:
    return rows.is_long() if long else ~rows.is_long()


def _moment(session: AsyncSession, by_database: datetime) -> datetime:
    """Machines whose clocks differ share the database's. SQLite has one machine, and rounds to milliseconds."""
    return by_database if session.get_bind().dialect.name == "postgresql" else now()


@dataclass(slots=True)
class _Place:
    """A place in line."""

    round: int
    number: int
    at: datetime

    @property
    def priority(self) -> int:
        return self.round * _PLACES + self.number

    def follow(self, *, is_guest: bool) -> None:
        """The share was served in the round before. So nothing that someone who was served later is watching goes
        before its attempt: they would then be served twice meanwhile.
        """
        if self.number == Turn.ATTEMPT and not is_guest:
            self.number = Turn.WATCHED


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of work in line."""

    rows: type[WorkRow]
    id: str
    priority: int
    turn_at: datetime
    is_due: bool

    @property
    def round(self) -> int:
        return self.priority // _PLACES

    def order(self) -> tuple[int, datetime, str]:
        return self.priority, self.turn_at, self.id


@dataclass(frozen=True, slots=True)
class _Standing:
    """The position of a share: the current round of the line, the last one in which the share was served, and the last
    one in which it has a piece that is due. The last two are None if there is none.
    """

    current: int
    served: int | None
    last: int | None
    at: datetime

    @property
    def is_again(self) -> bool:
        """Whether it has already been served in the current round."""
        return self.served is not None and self.served >= self.current

    @property
    def joins(self) -> int:
        """The round of its first piece."""
        return self.current + self.is_again


async def _standing(session: AsyncSession, share: str | None, *, long: bool) -> _Standing:
    tables = tables_of_line(long=long)
    newest, served, at, *places = (await select_rows(session, _rounds(tables, long=long), {"share": share})).one()
    waiting = [each // _PLACES for each in places[: len(tables)] if each is not None]
    own = [each // _PLACES for each in places[len(tables) :] if each is not None]
    # If those who were served last have been deleted, the first in line says which round it is.
    current = max(0, newest or 0, min(waiting, default=0))
    return _Standing(current, served, max(own, default=None), _moment(session, at))


@cache
def _rounds(tables: tuple[type[WorkRow], ...], *, long: bool) -> PreparedSelect:
    """The newest round, in which the share was served, the time, and for each table: its first place, and the share's
    last. Only what is due counts.
    """
    share = bindparam("share", type_=String)
    served_in = _round(long=long)

    def first(rows: type[WorkRow]) -> Any:
        due = rows.is_due(), in_line(rows, long=long)
        return select(func.min(rows.priority)).where(*due).scalar_subquery()

    def last(rows: type[WorkRow]) -> Any:
        return select(func.max(rows.priority)).where(*_of(rows, share, long=long), rows.is_ready()).scalar_subquery()

    columns: list[Any] = [
        select(func.max(served_in)).scalar_subquery(),
        select(served_in).where(FairShareRow.share == share).scalar_subquery(),
        FromNow(),
        *(first(each) for each in tables),
        *(last(each) for each in tables),
    ]
    return PreparedSelect(select(*columns))


@cache
def _following(tables: tuple[type[WorkRow], ...], *, long: bool) -> Select[Any]:
    """The newest round, the time, and for each table the first place of the share, apart from what is taken."""
    columns: list[Any] = [
        select(func.max(_round(long=long))).scalar_subquery(),
        FromNow(),
        *(select(func.min(each.priority)).where(*_behind(each, long=long)).scalar_subquery() for each in tables),
    ]
    return select(*columns)


def _behind(rows: type[WorkRow], *, long: bool) -> tuple[Any, ...]:
    """What the share has in line, apart from what is taken."""
    return *_of(rows, bindparam("mine", type_=String), long=long), rows.id != bindparam("taken", type_=String)


def _of(rows: type[WorkRow], share: Any, *, long: bool) -> tuple[Any, ...]:
    """What a share has in line. The status is not compared with `queued`, or the database might search all of the line
    for this share, by the index on places.
    """
    return rows.share == share, IS_WAITING, rows.status != "running", in_line(rows, long=long)


@cache
def _serve(*, long: bool) -> Update:
    served_in, served = _round(long=long), bindparam("served", type_=Integer)
    of_share = update(FairShareRow).where(FairShareRow.share == bindparam("mine", type_=String))
    return of_share.where(or_(served_in.is_(None), served_in < served)).values({served_in: served})


@cache
def _advance(tables: tuple[type[WorkRow], ...], number: int, *, long: bool) -> Update:
    """Give what the share has at a place in one of the tables another place, if it is due."""
    rows = tables[number]
    first = rows.priority == bindparam("first", type_=Integer)
    # Another process may be taking it, and then waits for the share's row, which this transaction has locked.
    free = select(rows.id).where(*_behind(rows, long=long), rows.is_ready(), first).with_for_update(skip_locked=True)
    place, at = bindparam("place", type_=Integer), bindparam("at", type_=UTCDateTime)
    return update(rows).where(rows.id.in_(free)).values(priority=place, turn_at=at)


async def _pieces(session: AsyncSession, row: WorkRow) -> list[_Piece]:
    """All that the row's share has in its line, in order, except the row. What another process is taking is left out,
    as in `_advance`.
    """
    found: list[_Piece] = []
    for rows in tables_of_line(long=row.long):
        columns = rows.id, rows.priority, rows.turn_at, rows.is_ready()
        query = select(*columns).where(*_behind(rows, long=row.long)).with_for_update(skip_locked=True)
        for each in await session.execute(query, {"mine": row.share, "taken": row.id}):
            found.append(_Piece(rows, *each))
    return sorted(found, key=_Piece.order)


async def _number(
    session: AsyncSession, row: WorkRow, pieces: list[_Piece], first: int, at: datetime, *, follow: bool
) -> None:
    """Give the pieces of the row's share that are due one round each, from `first` on, and no earlier one to the
    others.
    """
    joins = first
    for each in pieces:
        place = _Place(joins, each.priority % _PLACES, each.turn_at)
        if each.is_due:
            joins += 1
        elif each.round > first:
            continue
        else:
            place.round = first
        if place.round == first:
            place.at = at
            if follow:
                place.follow(is_guest=_is_guests(row))
        if (place.priority, place.at) != (each.priority, each.turn_at):
            moved = update(each.rows).where(each.rows.id == each.id)
            await session.execute(moved.values(priority=place.priority, turn_at=place.at).execution_options(**_NO_SYNC))


class Line:
    """The first in line, of some kinds of work.

    Args:
      kinds: the table of each, and the conditions on its rows.
      long: whether this is the line of what can take minutes.
    """

    def __init__(
        self, kinds: Sequence[tuple[type[WorkRow], Sequence[ColumnElement[bool]]]], *, long: bool = False
    ) -> None:
        heads = [
            select(literal(number).label("number"), rows.id, rows.share, rows.priority, rows.turn_at)
            .where(rows.is_due(), *conditions)
            .order_by(rows.priority, rows.turn_at, rows.id)
            .limit(_COMPARED)
            .subquery()
            for number, (rows, conditions) in enumerate(kinds)
        ]
        # Built once: building a statement takes as long as executing it, and every free slot needs this one.
        self._first = union_all(*(select(each) for each in heads))
        self._long = long

    async def first(self, session: AsyncSession) -> list[tuple[int, str]]:
        """The work to take now: the number of its kind, and its id. The next ones follow, in case others take it."""
        waiting = (await session.execute(self._first)).all()
        if not waiting:
            return []
        running = await _running(session, long=self._long)
        in_order = sorted(waiting, key=lambda each: (running.get(each.share, 0), each.priority, each.turn_at, each.id))
        return [(each.number, each.id) for each in in_order]


async def _running(session: AsyncSession, *, long: bool) -> dict[str, int]:
    """How many pieces of work each share has running in the slots of this line."""
    return {share: count for share, count in await session.execute(_busy(tables_of_line(long=long), long=long))}


@cache
def _busy(tables: tuple[type[WorkRow], ...], *, long: bool) -> Select[Any]:
    found = (select(rows.share).where(rows.status == "running", in_line(rows, long=long)) for rows in tables)
    busy = union_all(*found).subquery()
    return select(busy.c.share, func.count()).group_by("share")


def back_off(retry_s: float, tries: int) -> timedelta:
    """How long to wait after this many tries. The wait quadruples after each one, up to the third."""
    return timedelta(seconds=retry_s * 4 ** (min(tries, 3) - 1))
