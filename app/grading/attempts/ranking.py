"""The ranking of a problem: the most efficient accepted attempt of each user."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, false, func, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.database import Database
from app.grading.queue.models import IS_RANKED, AttemptRow
from app.grading.queue.withheld_verdicts import shown_only

Shown = Sequence[ColumnElement[bool]]


@dataclass(frozen=True, slots=True)
class Place:
    """Equal efficiency shares a place, and the next place stays free. `reached_at`: when it was first submitted."""

    place: int
    user_id: str
    name: str
    efficiency: float
    reached_at: datetime


@dataclass(frozen=True, slots=True)
class Ranking:
    """The first places, the user's own place (perhaps further down), and the number of ranked users.

    `counts` has each best efficiency with the number of users who reached it, the greatest first. `first_at` is when
    the first accepted attempt was sent.
    """

    places: tuple[Place, ...]
    own: Place | None
    users: int
    counts: tuple[tuple[float, int], ...]
    first_at: datetime | None


_NAME = func.coalesce(UserRow.ranking_name, UserRow.name)
_LONGEST_TREND = 30


async def ranking(database: Database, problem: str, user: User, limit: int) -> Ranking:
    """Rank a problem. Only accepted attempts with an efficiency have a place, and runs never do.

    The attempts of all users are grouped once, by their best efficiency. After that, only those that reach the first
    places have to be looked at.
    """
    async with database.reading() as session:
        shown = await shown_only(session, problem=problem)
        rows = (await session.execute(_counts(problem, shown))).all()
        if not rows:
            return Ranking((), None, 0, (), None)
        greatest_first = [-row.efficiency for row in rows]
        better = [0, *accumulate(row.users for row in rows)]
        # The last efficiency that is reached by fewer than `limit` better users.
        least = rows[bisect_left(better, limit, hi=len(rows)) - 1].efficiency
        reached = {
            user_id: (efficiency, at)
            for user_id, efficiency, at in await session.execute(
                _reached(problem, shown, AttemptRow.efficiency >= least)
            )
        }
        first = sorted(reached, key=lambda user_id: (-reached[user_id][0], reached[user_id][1], user_id))[:limit]
        for user_id, efficiency, at in await session.execute(_reached(problem, shown, AttemptRow.user_id == user.id)):
            reached[user_id] = (efficiency, at)
        names = await _names(session, [*first, user.id])
    places = {
        user_id: Place(better[bisect_left(greatest_first, -efficiency)] + 1, user_id, names[user_id], efficiency, at)
        for user_id, (efficiency, at) in reached.items()
        if user_id in names
    }
    return Ranking(
        tuple(places[user_id] for user_id in first if user_id in places),
        places.get(user.id),
        better[-1],
        tuple((row.efficiency, row.users) for row in rows),
        min(row.first_at for row in rows),
    )


async def name_of_first(database: Database, problem: str, at: datetime) -> str | None:
    """The name of the user whose accepted attempt of that time is the first."""
    query = (
        select(_NAME)
        .join(AttemptRow, AttemptRow.user_id == UserRow.id)
        .where(AttemptRow.problem == problem, IS_RANKED, AttemptRow.created_at == at, UserRow.in_rankings == true())
        .order_by(UserRow.id)
        .limit(1)
    )
    async with database.reading() as session:
        return await session.scalar(query.where(*await shown_only(session, problem=problem)))


async def trend(database: Database, problem: str, user: User) -> tuple[float, ...]:
    """The efficiencies of the user's last accepted attempts, the newest last."""
    query = (
        select(AttemptRow.efficiency)
        .where(AttemptRow.problem == problem, AttemptRow.user_id == user.id, IS_RANKED)
        # In the order of the index of ranked attempts; otherwise SQLite would choose the one of all attempts.
        .group_by(AttemptRow.user_id, AttemptRow.efficiency, AttemptRow.created_at)
        .order_by(AttemptRow.created_at.desc(), AttemptRow.efficiency)
        .limit(_LONGEST_TREND)
    )
    async with database.reading() as session:
        shown = await shown_only(session, user_id=user.id, problem=problem)
        found = (await session.scalars(query.where(*shown))).all()
    return tuple(value for value in reversed(found) if value is not None)


# These queries name no column that the index of ranked attempts does not have, not even an attempt's id: reading the
# attempts themselves, with their verdicts, would take ten times as long.


def _counts(problem: str, shown: Shown) -> Select[Any, int, Any]:
    """Each best efficiency, how many users reached it, and when the first of them first had an accepted attempt."""
    best = (
        select(func.max(AttemptRow.efficiency).label("efficiency"), func.min(AttemptRow.created_at).label("first_at"))
        .where(_is_ranked(problem, shown))
        .group_by(AttemptRow.user_id)
        .subquery()
    )
    return (
        select(best.c.efficiency, func.count().label("users"), func.min(best.c.first_at).label("first_at"))
        .group_by(best.c.efficiency)
        .order_by(best.c.efficiency.desc())
    )


def _reached(problem: str, shown: Shown, condition: ColumnElement[bool]) -> Select[str, Any, Any]:
    """When which user first reached which efficiency. A user's best one comes last."""
    return (
        select(AttemptRow.user_id, AttemptRow.efficiency, func.min(AttemptRow.created_at))
        .where(_is_ranked(problem, shown), condition)
        .group_by(AttemptRow.user_id, AttemptRow.efficiency)
        .order_by(AttemptRow.user_id, AttemptRow.efficiency)
    )


def _is_ranked(problem: str, shown: Shown) -> ColumnElement[bool]:
    # Looked up by id for each user: a list of the hidden would be read from all accounts.
    is_hidden = exists().where(UserRow.id == AttemptRow.user_id, UserRow.in_rankings == false())
    return and_(AttemptRow.problem == problem, IS_RANKED, ~is_hidden, *shown)


async def _names(session: AsyncSession, users: list[str]) -> dict[str, str]:
    rows = await session.execute(select(UserRow.id, _NAME).where(UserRow.id.in_(users)))
    return {user_id: name for user_id, name in rows}
