"""Slows down anyone who guesses passwords. The counts are in the database, so a restart forgets nothing.

One count is for a name together with an address, and one for an address alone. There is none for a name alone, because
then anyone could lock its owner out everywhere. A try counts before its password is checked, or a burst would slip
through.
"""

import hashlib
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address
from typing import NoReturn

from sqlalchemy import delete, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.errors import TooManySignIns
from app.accounts.models import SignInFailureRow
from app.core.clock import now
from app.core.database import Database, insert_into

_FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Subject:
    """The first `free` failures cost nothing. Each further one doubles the wait, from 1 s up to `longest_s`."""

    key: str
    free: int
    longest_s: int

    def wait(self, failures: int) -> timedelta:
        return timedelta(seconds=min(self.longest_s, 2 ** min(failures - self.free - 1, 20)))


class Throttle:
    """Safe to share between requests and between servers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, name: str, address: str) -> None:
        """Count a try as failed, unless `forgive` follows. Raises `TooManySignIns`, and then counts nothing."""
        async with self._database.writing() as session:
            await session.execute(delete(SignInFailureRow).where(SignInFailureRow.last_at < now() - _FORGOTTEN_AFTER))
            for subject in _subjects(name, address):
                await _count(session, subject)

    async def forgive(self, name: str, address: str) -> None:
        """The try succeeded: reset the count of the name at this address, and subtract this try from the address's."""
        pair, alone = _subjects(name, address)
        row = SignInFailureRow
        async with self._database.writing() as session:
            await session.execute(delete(row).where(row.subject_hash == pair.key))
            await session.execute(
                update(row).where(row.subject_hash == alone.key, row.failures > 0).values(failures=row.failures - 1)
            )


async def _count(session: AsyncSession, subject: _Subject) -> None:
    row = SignInFailureRow
    # One statement, which also locks the row until the commit: two tries at once both count.
    failures, blocked_until = (
        await session.execute(
            insert_into(session, row)
            .values(subject_hash=subject.key, failures=1, last_at=now())
            .on_conflict_do_update(
                index_elements=[row.subject_hash], set_={"failures": row.failures + 1, "last_at": now()}
            )
            .returning(row.failures, row.blocked_until)
        )
    ).one()
    if blocked_until is not None and blocked_until > now():
        _refuse(blocked_until)
    if failures > subject.free:
        await session.execute(
            update(row).where(row.subject_hash == subject.key).values(blocked_until=now() + subject.wait(failures))
        )


def _refuse(until: datetime) -> NoReturn:
    seconds = max(1, math.ceil((until - now()).total_seconds()))
    raise TooManySignIns(
        f"Too many sign-ins from your address failed. Try again in {seconds} s.", headers={"Retry-After": str(seconds)}
    )


def _subjects(name: str, address: str) -> tuple[_Subject, _Subject]:
    place = network_of(address)
    return (
        _Subject(subject_key(f"name and address\0{name}\0{place}"), free=5, longest_s=15 * 60),
        # Many people can share an address, so it waits later and for a shorter time.
        _Subject(subject_key(f"address\0{place}"), free=100, longest_s=10),
    )


def subject_key(text: str) -> str:
    # A hash: people sometimes type their password into the name field, and it must not be stored.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def network_of(address: str) -> str:
    """The address, or for IPv6 its /64, which usually belongs to one customer."""
    try:
        parsed = ip_address(address)
    except ValueError:  # a Unix socket has no address
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    # A dual-stack socket writes IPv4 as ::ffff:192.0.2.1. Without this, all of IPv4 would be one network.
    return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))
