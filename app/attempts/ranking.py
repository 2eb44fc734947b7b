"""The ranking of a problem: the most efficient accepted attempt of each user."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, false, func, or_, select

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.database import Database
from app.queue.models import IS_RANKED, AttemptRow


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
    """The first places, the user's own place (perhaps further down), and the number of ranked users."""

    places: tuple[Place, ...]
    own: Place | None
    users: int


@dataclass(frozen=True, slots=True)
class Spread:
    """The best efficiency of each ranked user, the first accepted attempt, and the user's own efficiencies in order."""

    best: tuple[float, ...]
    first_name: str | None
    first_at: datetime | None
    trend: tuple[float, ...]


_NAME = func.coalesce(UserRow.ranking_name, UserRow.name)
_LONGEST_TREND = 30


async def spread(database: Database, problem: str, user: User) -> Spread:
    """Everything about a ranking but the places."""
    ranked = _ranked(problem).subquery()
    first = (
        select(_NAME, AttemptRow.created_at)
        .join(UserRow, UserRow.id == AttemptRow.user_id)
        .where(AttemptRow.problem == problem, IS_RANKED, UserRow.in_rankings)
        .order_by(AttemptRow.created_at, AttemptRow.id)
        .limit(1)
    )
    own = (
        select(AttemptRow.efficiency)
        .where(AttemptRow.problem == problem, AttemptRow.user_id == user.id, IS_RANKED)
        .order_by(AttemptRow.created_at.desc(), AttemptRow.id.desc())
        .limit(_LONGEST_TREND)
    )
    async with database.reading() as session:
        best = (await session.scalars(select(ranked.c.efficiency))).all()
        name, at = (await session.execute(first)).one_or_none() or (None, None)
        trend = [value for value in await session.scalars(own) if value is not None]
    return Spread(tuple(best), name, at, tuple(reversed(trend)))


async def ranking(database: Database, problem: str, user: User, limit: int) -> Ranking:
    """Rank a problem. Only accepted attempts with an efficiency have a place, and runs never do."""
    ranked = _ranked(problem).subquery()
    reached_at = (
        select(func.min(AttemptRow.created_at))
        .where(
            AttemptRow.problem == problem,
            AttemptRow.user_id == ranked.c.user_id,
            AttemptRow.efficiency == ranked.c.efficiency,
            IS_RANKED,
        )
        .scalar_subquery()
    )
    query = (
        select(ranked.c.place, ranked.c.user_id, _NAME, ranked.c.efficiency, reached_at, ranked.c.users)
        .join(UserRow, UserRow.id == ranked.c.user_id)
        # Only the attempts of the users whose places are shown have to be read.
        .where(or_(ranked.c.place <= limit, ranked.c.user_id == user.id))
        # The user's own place comes first, wherever it is. It requires ranking everyone, which happens only once.
        .order_by(ranked.c.user_id != user.id, ranked.c.place, reached_at, ranked.c.user_id)
        .limit(limit + 1)
    )
    async with database.reading() as session:
        rows = (await session.execute(query)).all()
    places = [Place(*row[:-1]) for row in rows]
    own = places[0] if places and places[0].user_id == user.id else None
    places.sort(key=lambda each: (each.place, each.reached_at, each.user_id))
    return Ranking(tuple(places[:limit]), own, rows[0].users if rows else 0)


def _ranked(problem: str) -> Select[tuple[str, float, int, int]]:
    """The best efficiency of each user, with its place, and how many users there are."""
    hidden = select(UserRow.id).where(UserRow.in_rankings == false())
    best = (
        select(AttemptRow.user_id, func.max(AttemptRow.efficiency).label("efficiency"))
        .where(AttemptRow.problem == problem, IS_RANKED, AttemptRow.user_id.not_in(hidden))
        .group_by(AttemptRow.user_id)
        .subquery()
    )
    place = func.rank().over(order_by=best.c.efficiency.desc()).label("place")
    users = func.count().over().label("users")
    return select(best.c.user_id, best.c.efficiency, place, users)
