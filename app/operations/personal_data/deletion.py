"""Deletes an account and everything that belongs to it: the tables cascade."""

from collections.abc import Callable

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.last_owner import require_another_owner
from app.accounts.models import UserRow
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import GradeQueue

_LAST = "You are the only owner. Invite another owner first, because nobody else can."


def _no_entry(session: AsyncSession) -> None:
    pass


async def delete_account(
    database: Database,
    queue: GradeQueue,
    user: User,
    *,
    record: Callable[[AsyncSession], None] = _no_entry,
    last_owner: str = _LAST,
) -> None:
    """Cancel attempts that wait or run, then remove the user.

    Args:
      record: writes an entry into the audit log, in the transaction that removes the user.
      last_owner: the message of `LastOwner`.
    Raises:
      LastOwner: nothing was changed.
    """
    async with database.reading() as session:
        await require_another_owner(session, user.id, last_owner)
        waiting = list(
            await session.scalars(
                select(AttemptRow.id).where(AttemptRow.user_id == user.id, AttemptRow.status.in_(("queued", "running")))
            )
        )
    for attempt_id in waiting:
        await queue.cancel(attempt_id)
    async with database.writing() as session:
        await require_another_owner(session, user.id, last_owner, lock=True)
        record(session)
        await session.flush()
        await session.execute(delete(UserRow).where(UserRow.id == user.id))
