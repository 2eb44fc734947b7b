"""The ranking of a problem: the most efficient accepted attempt of each user."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, or_, select

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
        select(ranked.c.place, ranked.c.user_id, UserRow.name, ranked.c.efficiency, reached_at, ranked.c.users)
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
    best = (
        select(AttemptRow.user_id, func.max(AttemptRow.efficiency).label("efficiency"))
        .where(AttemptRow.problem == problem, IS_RANKED)
        .group_by(AttemptRow.user_id)
        .subquery()
    )
    place = func.rank().over(order_by=best.c.efficiency.desc()).label("place")
    users = func.count().over().label("users")
    return select(best.c.user_id, best.c.efficiency, place, users)
