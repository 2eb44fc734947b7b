"""The people who have tried a problem, and their progress, for instructors and owners."""

from datetime import datetime
from typing import Any

from sqlalchemy import case, func, select

from app.accounts.caller import GUEST_ID, User
from app.accounts.models import UserRow
from app.core.database import Database
from app.core.rest.paging import Cursor, Page, paged
from app.core.view import View
from app.grading.queue.models import AttemptRow
from app.teaching.identities.identity import RosterIdentities, RosterIdentity


class PersonAtProblem(View):
    """`sent` counts attempts and runs. `best_score` is null until an attempt is scored. `identity` is what a roster
    says of the person.
    """

    id: str
    name: str
    sent: int
    best_score: int | None
    accepted: bool
    last_at: datetime
    identity: RosterIdentity | None = None


async def who_tried(
    database: Database, identities: RosterIdentities, reader: User, problem: str, cursor: Cursor
) -> Page[PersonAtProblem]:
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
        found = await paged(session, query, (UserRow.name,), cursor, _person)
    known = await identities.of_people([each.id for each in found])
    return found.map(lambda each: each.model_copy(update={"identity": known.get(each.id)}))


def _person(*columns: Any) -> PersonAtProblem:
    names = ("id", "name", "sent", "best_score", "accepted", "last_at")
    return PersonAtProblem(**dict(zip(names, columns, strict=True)))
