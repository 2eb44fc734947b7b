"""Runs and explorations without an account: how many there may be, and whose share of the queue they take.

All guests are one user. In the queue, each network that they come from has the share of one user (`share_of`), so that
no visitor closes it to the others. Nothing of theirs is scored.
"""

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import GUEST_ID, GUEST_NAME, Guest, User
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import insert_into
from app.core.errors import TooManyGuestRuns
from app.core.limits import HOUR, Limit, count, key_hash, network_of


async def admit_guest(session: AsyncSession, guest: Guest, *, per_address: int, in_total: int) -> None:
    """Count a run or an exploration, and make sure that the guests' user exists.

    Raises:
      TooManyGuestRuns: the caller must roll back, so that nothing was counted.
    """
    by_address = _limit("guest runs by address", per_address, "for your network")
    await count(
        session,
        (by_address, network_of(guest.address)),
        (_limit("guest runs", in_total, "for this service"), ""),
    )
    user = {"id": GUEST_ID, "name": GUEST_NAME, "role": "student", "created_at": now()}
    await session.execute(insert_into(session, UserRow).values(user).on_conflict_do_nothing())


def _limit(kind: str, most: int, where: str) -> Limit:
    return Limit(
        *(kind, HOUR, most, TooManyGuestRuns),
        f"The limit of {{most}} runs or explorations per hour without an account is reached {where}. Sign in, or try "
        "again in {wait}.",
    )


def share_of(user: User) -> str:
    """Whose share of the queue this work takes: the user's own, or that of a guest's network."""
    return user.id if user.guest is None else key_hash(f"share\0{network_of(user.guest.address)}")
