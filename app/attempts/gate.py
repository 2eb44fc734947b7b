"""What may refuse an attempt before it is stored. Courses do: app/courses/limits.py."""

from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.queue.models import AttemptRow
from app.queue.withheld import WithheldRow


class Gate(Protocol):
    async def admit(self, session: AsyncSession, user: User, attempt: AttemptRow) -> list[WithheldRow]:
        """Called in the transaction that stores the attempt. Returns rows to store with it. Raises `Refused`."""
        ...


class NoGate:
    """Admits every attempt."""

    async def admit(self, session: AsyncSession, user: User, attempt: AttemptRow) -> list[WithheldRow]:
        return []
