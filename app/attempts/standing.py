"""A user's progress at each problem."""

from dataclasses import dataclass

from sqlalchemy import bindparam, case, func, select

from app.accounts.caller import User
from app.database import Database
from app.queue.models import IS_SCORED, AttemptRow


@dataclass(frozen=True, slots=True)
class Standing:
    """`accepted` counts only attempts, because a run uses no hidden case."""

    best_score: int
    accepted: bool


# Built once: building a statement takes as long as executing it, and every problem page needs it.
_STANDINGS = (
    select(
        AttemptRow.problem,
        func.max(AttemptRow.score),
        func.max(case((AttemptRow.verdict_status == "accepted", 1), else_=0)),
    )
    .where(AttemptRow.user_id == bindparam("user_id"), IS_SCORED)
    .group_by(AttemptRow.problem)
)
_STANDING = _STANDINGS.where(AttemptRow.problem == bindparam("problem"))


async def standings(database: Database, user: User, problem: str | None = None) -> dict[str, Standing]:
    """Standing by problem, over all of the user's scored attempts. Problems without one are left out."""
    query = _STANDINGS if problem is None else _STANDING
    async with database.reading() as session:
        rows = await session.execute(query, {"user_id": user.id, "problem": problem})
        return {slug: Standing(best_score, bool(accepted)) for slug, best_score, accepted in rows}
