"""The people who have tried a problem, and their progress, for instructors and owners."""

from datetime import datetime

from sqlalchemy import case, func, select

from app.accounts.caller import GUEST_ID, User
from app.accounts.models import UserRow
from app.core.database import Database
from app.core.rest.paging import Cursor, Page, paged
from app.core.view import View
from app.grading.queue.models import AttemptRow


class PersonAtProblem(View):
    """`sent` counts attempts and runs. `best_score` is null until an attempt is scored."""

    id: str
    name: str
    sent: int
    best_score: int | None
    accepted: bool
    last_at: datetime


async def who_tried(database: Database, reader: User, problem: str, cursor: Cursor) -> Page[PersonAtProblem]:
    """By name."""
    row = AttemptRow
    is_accepted = (row.verdict_status == "accepted") & row.score.is_not(None)
    query = (
        select(
            UserRow.id,
            UserRow.name,
            func.count(),
            func.max(row.score),
            func.max(case((is_accepted, 1), else_=0)) == 1,
            func.max(row.created_at),
        )
        .join(row, row.user_id == UserRow.id)
        .where(row.problem == problem, row.kind != "rejudge", UserRow.id != GUEST_ID)
        .group_by(UserRow.id, UserRow.name)
    )
    if reader.role != "owner":
        query = query.where(UserRow.role == "student")
    async with database.reading() as session:
        return await paged(session, query, (UserRow.name,), cursor, PersonAtProblem.of_columns)
