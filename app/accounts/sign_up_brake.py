"""Limits open sign-up: accounts per hour from one address, and in total.

Each account has a place in the queue, a rate limit and a name in the rankings, so thousands of them would take the
service from everyone else. Someone vouches for each invitation, so those do not count. The counts are in the database:
a restart forgets nothing, and all servers count together. A failed try also counts, because it also runs argon2.
"""

import math
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.errors import TooManySignUps
from app.accounts.hourly_counts import count_in_hour, forget_old_counts
from app.accounts.sign_in_throttle import network_of
from app.core.database import Database


@dataclass(frozen=True, slots=True)
class SignUpLimits:
    """How many tries per hour: from one address (for IPv6, from one /64), and from all addresses."""

    per_address: int = 60
    in_total: int = 600


class SignUpBrake:
    """Safe to share between requests and between servers."""

    def __init__(self, database: Database, limits: SignUpLimits) -> None:
        self._database = database
        self._limits = limits

    async def count(self, address: str) -> None:
        """Count one try. Raises `TooManySignUps`, and then counts nothing."""
        async with self._database.writing() as session:
            await self.count_in(session, address)

    async def count_in(self, session: AsyncSession, address: str) -> None:
        """`count`, in the caller's transaction. An error must roll that back."""
        await forget_old_counts(session)
        # The address first: if it is refused, the total does not change for others.
        await _count(session, f"sign-up\0{network_of(address)}", self._limits.per_address, "your network")
        await _count(session, "sign-up in total", self._limits.in_total, "this service")


async def _count(session: AsyncSession, subject: str, limit: int, where: str) -> None:
    if seconds := await count_in_hour(session, subject, limit):
        raise TooManySignUps(
            f"The limit of {limit} new accounts per hour for {where} is reached. Try again in "
            f"{math.ceil(seconds / 60)} min, or ask an instructor for an invitation, which does not count.",
            headers={"Retry-After": str(seconds)},
        )
