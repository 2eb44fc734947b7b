"""Deletes an account and everything that belongs to it: the tables cascade."""

from sqlalchemy import delete, select

from app.accounts.caller import User
from app.accounts.last_owner import require_another_owner
from app.accounts.models import UserRow
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import GradeQueue

_LAST = "You are the only owner. Invite another owner first, because nobody else can."


async def delete_account(database: Database, queue: GradeQueue, user: User) -> None:
    """Cancel attempts that wait or run, then remove the user. Raises `LastOwner` before it changes anything."""
    async with database.reading() as session:
        await require_another_owner(session, user.id, _LAST)
        waiting = list(
            await session.scalars(
                select(AttemptRow.id).where(AttemptRow.user_id == user.id, AttemptRow.status.in_(("queued", "running")))
            )
        )
    for attempt_id in waiting:
        await queue.cancel(attempt_id)
    async with database.writing() as session:
        await require_another_owner(session, user.id, _LAST, lock=True)
        await session.execute(delete(UserRow).where(UserRow.id == user.id))
