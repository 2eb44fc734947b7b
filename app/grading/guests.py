"""Runs and explorations without an account: how many there may be, and whose share of the queue they take.

All guests are one user. In the queue, each network that they come from has the share of one user (`share_of`), so that
no visitor closes it to the others. Nothing of theirs is scored.
"""

import math

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import GUEST_ID, GUEST_NAME, Guest, User
from app.accounts.hourly_counts import count_in_hour, forget_old_counts
from app.accounts.models import UserRow
from app.accounts.sign_in_throttle import network_of, subject_key
from app.core.clock import now
from app.core.database import insert_into
from app.core.errors import TooManyGuestRuns


async def admit_guest(session: AsyncSession, guest: Guest, *, per_address: int, in_total: int) -> None:
    """Count a run or an exploration, and make sure that the guests' user exists.

    Raises:
      TooManyGuestRuns: the caller must roll back, so that nothing was counted.
    """
    await forget_old_counts(session)
    # The address first: if it is refused, the total does not change for others.
    for subject, limit, where in (
        (f"guest run\0{network_of(guest.address)}", per_address, "for your network"),
        ("guest runs in total", in_total, "for this service"),
    ):
        if seconds := await count_in_hour(session, subject, limit):
            raise TooManyGuestRuns(
                f"The limit of {limit} runs or explorations per hour without an account is reached {where}. Sign in, "
                f"or try again in {math.ceil(seconds / 60)} min.",
                headers={"Retry-After": str(seconds)},
            )
    user = {"id": GUEST_ID, "name": GUEST_NAME, "role": "student", "created_at": now()}
    await session.execute(insert_into(session, UserRow).values(user).on_conflict_do_nothing())


def share_of(user: User) -> str:
    """Whose share of the queue this work takes: the user's own, or that of a guest's network."""
    return user.id if user.guest is None else subject_key(f"share\0{network_of(user.guest.address)}")
