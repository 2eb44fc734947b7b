"""Limits open sign-up: accounts per hour from one address, and in total.

Each account has a place in the queue, a rate limit and a name in the rankings, so thousands of them would take the
service from everyone else. Someone vouches for each invitation, so those do not count. A failed try also counts,
because it also runs argon2.
"""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.errors import TooManySignUps
from app.core.database import Database
from app.core.limits import HOUR, Limit, count, network_of


@dataclass(frozen=True, slots=True)
class SignUpLimits:
    """How many tries per hour: from one address (for IPv6, from one /64), and from all addresses."""

    per_address: int = 60
    in_total: int = 600


class SignUpBrake:
    """Safe to share between requests and between servers."""

    def __init__(self, database: Database, limits: SignUpLimits) -> None:
        self._database = database
        self._by_address = _limit("sign-up by address", limits.per_address, "your network")
        self._in_total = _limit("sign-up", limits.in_total, "this service")

    async def count(self, address: str) -> None:
        """Count one try. Raises `TooManySignUps`, and then counts nothing."""
        async with self._database.writing() as session:
            await self.count_in(session, address)

    async def count_in(self, session: AsyncSession, address: str) -> None:
        """`count`, in the caller's transaction. An error must roll that back."""
        await count(session, (self._by_address, network_of(address)), (self._in_total, ""))


def _limit(kind: str, most: int, where: str) -> Limit:
    return Limit(
        *(kind, HOUR, most, TooManySignUps),
        f"The limit of {{most}} new accounts per hour for {where} is reached. Try again in {{wait}}, or ask an "
        "instructor for an invitation, which does not count.",
    )
