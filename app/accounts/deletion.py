"""An account goes, and with it everything that hangs on it: the tables cascade."""

from sqlalchemy import delete, select

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.database import Database
from app.errors import LastOwner
from app.queue.models import AttemptRow
from app.queue.protocol import GradeQueue


async def delete_account(database: Database, queue: GradeQueue, user: User) -> None:
    """Cancel what is waiting or running, then remove the user. Raises `LastOwner`, before anything is touched."""
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
        # Held until the commit: of two last owners who leave at the same time, one stays.
        owners = await session.scalars(select(UserRow.id).where(UserRow.role == "owner").with_for_update())
        _refuse_the_last(user, list(owners))
        await session.execute(delete(UserRow).where(UserRow.id == user.id))


def _refuse_the_last(user: User, owners: list[str]) -> None:
    if owners == [user.id]:
        raise LastOwner("You are the only owner. Invite another one first: nobody else could invite owners.")
