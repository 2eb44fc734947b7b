"""How far a user has come with each problem."""

from dataclasses import dataclass

from sqlalchemy import case, func, select

from app.accounts.caller import User
from app.attempts.models import IS_SCORED, AttemptRow
from app.database import Database


@dataclass(frozen=True, slots=True)
class Standing:
    """`accepted` counts attempts only: a run tries no hidden case."""

    best_score: int
    accepted: bool


async def standings(database: Database, user: User, problem: str | None = None) -> dict[str, Standing]:
    """Standing by problem, over all of the user's scored attempts; problems without one are left out."""
    accepted = func.max(case((AttemptRow.verdict_status == "accepted", 1), else_=0))
    query = (
        select(AttemptRow.problem, func.max(AttemptRow.score), accepted)
        .where(AttemptRow.user_id == user.id, IS_SCORED)
        .group_by(AttemptRow.problem)
    )
    if problem is not None:
        query = query.where(AttemptRow.problem == problem)
    async with database.reading() as session:
        rows = await session.execute(query)
        return {slug: Standing(best_score, bool(accepted)) for slug, best_score, accepted in rows}
