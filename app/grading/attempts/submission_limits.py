"""What may refuse an attempt before it is stored: a flood of them, and the limits of courses.

The latter are in app/teaching/courses/attempt_limits.py.
"""

from typing import Protocol

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.errors import TooManyWaiting
from app.grading.guests import share_of
from app.grading.queue.models import IS_WAITING, AttemptRow
from app.grading.queue.withheld_verdicts import WithheldRow


class Gate(Protocol):
    async def admit(self, session: AsyncSession, user: User, attempt: AttemptRow) -> list[WithheldRow]:
        """Called in the transaction that stores the attempt. Returns rows to store with it. Raises `Refused`."""
        ...

    async def admit_run(self, session: AsyncSession, user: User, run: AttemptRow) -> None:
        """The same for a run, which no limit counts. Raises `Refused`."""
        ...


class NoGate:
    """Admits everything."""

    async def admit(self, session: AsyncSession, user: User, attempt: AttemptRow) -> list[WithheldRow]:
        return []

    async def admit_run(self, session: AsyncSession, user: User, run: AttemptRow) -> None:
        return None


async def refuse_a_flood(session: AsyncSession, user: User, *, at_most: int) -> None:
    """Raises `TooManyWaiting` if too many of the user's attempts and runs already wait for a verdict."""
    query = select(func.count()).select_from(AttemptRow).where(AttemptRow.share == share_of(user), IS_WAITING)
    waiting = await session.scalar(query)
    if (waiting or 0) >= at_most:
        if user.guest is not None:
            raise TooManyWaiting(
                f"{waiting} runs without an account are waiting from your network, which is the maximum. Try again in "
                "a moment, or sign in.",
                headers={"Retry-After": "5"},
            )
        raise TooManyWaiting(
            f"You have {waiting} attempts waiting for a verdict, which is the maximum. "
            "Wait for one of them, or cancel one.",
            headers={"Retry-After": "5"},
        )
