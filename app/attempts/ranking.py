"""Who has solved a problem most efficiently: the best accepted attempt of each user."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, select

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.attempts.models import IS_RANKED, AttemptRow
from app.database import Database


@dataclass(frozen=True, slots=True)
class Place:
    """Equal efficiency is an equal place, and the next one is left free. `reached_at`: when it was first handed in."""

    place: int
    user_id: str
    name: str
    efficiency: float
    reached_at: datetime


@dataclass(frozen=True, slots=True)
class Ranking:
    """The first places, the asking user's own (perhaps further down), and how many users are ranked at all."""

    places: tuple[Place, ...]
    own: Place | None
    users: int


async def ranking(database: Database, problem: str, user: User, limit: int) -> Ranking:
    """Rank a problem. Only attempts that the judge accepted and gave an efficiency have a place, never a run."""
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
        select(ranked.c.place, ranked.c.user_id, UserRow.name, ranked.c.efficiency, reached_at)
        .join(UserRow, UserRow.id == ranked.c.user_id)
        .order_by(ranked.c.place, reached_at, ranked.c.user_id)
    )
    async with database.reading() as session:
        # Whoever is among the first ones has a place up to the limit; the others need no look at their attempts.
        first = [Place(*row) for row in await session.execute(query.where(ranked.c.place <= limit).limit(limit))]
        own = (await session.execute(query.where(ranked.c.user_id == user.id))).one_or_none()
        users = await session.scalar(select(func.count()).select_from(ranked))
    return Ranking(tuple(first), None if own is None else Place(*own), users or 0)


def _ranked(problem: str) -> Select[tuple[str, float, int]]:
    """The best efficiency of each user, with its place."""
    best = (
        select(AttemptRow.user_id, func.max(AttemptRow.efficiency).label("efficiency"))
        .where(AttemptRow.problem == problem, IS_RANKED)
        .group_by(AttemptRow.user_id)
        .subquery()
    )
    place = func.rank().over(order_by=best.c.efficiency.desc()).label("place")
    return select(best.c.user_id, best.c.efficiency, place)
