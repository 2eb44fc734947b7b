"""Keeps at least one owner who can sign in, because nobody else can make one."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.errors import LastOwner
from app.accounts.models import UserRow


async def require_another_owner(session: AsyncSession, user_id: str, message: str, *, lock: bool = False) -> None:
    """Check that the service would still have an owner without this user. Raises `LastOwner` with `message`.

    With `lock`, the rows stay locked until the commit: if the last two owners leave at once, one of them stays.
    """
    owners = select(UserRow.id).where(UserRow.role == "owner", UserRow.deactivated_at.is_(None)).order_by(UserRow.id)
    if list(await session.scalars(owners.with_for_update() if lock else owners)) == [user_id]:
        raise LastOwner(message)
