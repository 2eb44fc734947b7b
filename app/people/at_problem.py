"""The people who have tried a problem, and how far each of them came, for instructors and owners."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, func, select

from app.accounts.caller import GUEST_ID, User
from app.accounts.models import UserRow
from app.database import Database
from app.queue.models import AttemptRow


@dataclass(frozen=True, slots=True)
class PersonAtProblem:
    """`sent` counts attempts and runs. `best_score` is None until an attempt is scored."""

    id: str
    name: str
    sent: int
    best_score: int | None
    accepted: bool
    last_at: datetime


async def who_tried(
    database: Database, reader: User, problem: str, limit: int, after: str | None = None
) -> list[PersonAtProblem]:
    """By name. `after` is the name of the last one of the previous page."""
    row = AttemptRow
    is_accepted = (row.verdict_status == "accepted") & row.score.is_not(None)
    query = (
        select(
            UserRow.id,
            UserRow.name,
            func.count(),
            func.max(row.score),
            func.max(case((is_accepted, 1), else_=0)),
            func.max(row.created_at),
        )
        .join(row, row.user_id == UserRow.id)
        .where(row.problem == problem, row.kind != "rejudge", UserRow.id != GUEST_ID)
        .group_by(UserRow.id, UserRow.name)
        .order_by(UserRow.name)
        .limit(limit)
    )
    if reader.role != "owner":
        query = query.where(UserRow.role == "student")
    if after is not None:
        query = query.where(UserRow.name > after.replace("\0", ""))
    async with database.reading() as session:
        return [
            PersonAtProblem(user_id, name, sent, best, bool(accepted), last_at)
            for user_id, name, sent, best, accepted, last_at in await session.execute(query)
        ]
