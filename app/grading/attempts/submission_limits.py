"""What may refuse an attempt before it is stored: the limits of courses (app/teaching/courses/attempt_limits.py)."""

from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.grading.queue.models import AttemptRow
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
