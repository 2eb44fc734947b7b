"""Deletes an account and everything that belongs to it: the tables cascade."""

from sqlalchemy import delete, select

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.database import Database
from app.errors import LastOwner
from app.queue.models import AttemptRow
from app.queue.protocol import GradeQueue


async def delete_account(database: Database, queue: GradeQueue, user: User) -> None:
    """Cancel attempts that wait or run, then remove the user. Raises `LastOwner` before it changes anything."""
    async with database.reading() as session:
        owners = await session.scalars(select(UserRow.id).where(UserRow.role == "owner"))
        _refuse_the_last(user, list(owners))
        waiting = list(
            await session.scalars(
                select(AttemptRow.id).where(AttemptRow.user_id == user.id, AttemptRow.status.in_(("queued", "running")))
            )
        )
    for attempt_id in waiting:
        await queue.cancel(attempt_id)
    async with database.writing() as session:
        # The rows are locked until the commit: if the last two owners leave at the same time, one of them stays.
        owners = await session.scalars(select(UserRow.id).where(UserRow.role == "owner").with_for_update())
        _refuse_the_last(user, list(owners))
        await session.execute(delete(UserRow).where(UserRow.id == user.id))


def _refuse_the_last(user: User, owners: list[str]) -> None:
    if owners == [user.id]:
        raise LastOwner("You are the only owner. Invite another owner first, because nobody else can.")
