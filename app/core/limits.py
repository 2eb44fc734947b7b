"""Limits how often something may be tried in a minute, an hour or a day, and says when to try again.

A caller writes a `Limit`, and counts each try before its work begins. A refused try is not counted. After the seconds
that a refusal names, the next try is accepted, unless others were counted meanwhile.

Most counts are in the database: servers share them, and a restart keeps them. Requests are counted in memory, because a
write would double the cost of a small one: docs/decisions/0040-requests-are-counted-in-memory.md
"""

import hashlib
import math
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address

from sqlalchemy import ColumnElement, Integer, String, delete, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import now
from app.core.database import Base, UTCDateTime, insert_into
from app.core.errors import Refused

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` tries in a `window`, which begins with the first of them.

    With `longest_pause`, further tries are accepted, but each one begins a pause: of 1 s, then twice as long each time,
    up to `longest_pause`. The window then begins again with each try.

    Args:
      kind: what is counted. Limits of the same kind share their counts.
      refusal: the error that refuses a try.
      sentence: its message, in which `{most}` is that number, and `{wait}` the time until the next try, as in "45 s".
    """

    kind: str
    window: timedelta
    most: int
    refusal: type[Refused]
    sentence: str
    longest_pause: timedelta | None = None

    def pause_after(self, tries: int) -> timedelta:
        """How long the next try has to wait if this many were counted, without the end of the window."""
        if self.longest_pause is None or tries <= self.most:
            return timedelta()
        return min(self.longest_pause, timedelta(seconds=2 ** min(tries - self.most - 1, 20)))

    def refused(self, seconds: int) -> Refused:
        """The error for a try that came this many seconds too early."""
        return self.refusal(self.sentence.format(most=self.most, wait=in_words(seconds)), headers=retry_after(seconds))


class LimitCountRow(Base):
    """How often something was tried in the window that ends at `ends_at`. Until `paused_until`, no try is accepted."""

    __tablename__ = "limit_counts"

    kind: Mapped[str] = mapped_column(String(40), primary_key=True)
    key_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    tries: Mapped[int] = mapped_column(Integer())
    ends_at: Mapped[datetime] = mapped_column(UTCDateTime(), index=True)
    paused_until: Mapped[datetime | None] = mapped_column(UTCDateTime())


async def count(session: AsyncSession, *tries: tuple[Limit, str]) -> None:
    """Count one try by each limit, under a key such as an address. All callers name the same limits in the same order.

    Raises:
      Refused: the error of the limit with the longest wait. The caller must roll back, so that nothing was counted.
    """
    moment = now()
    await session.execute(delete(LimitCountRow).where(LimitCountRow.ends_at <= moment))
    waits = [(await _count(session, limit, key, moment), limit) for limit, key in tries]
    seconds, limit = max(waits, key=lambda wait: wait[0])
    if seconds:
        raise limit.refused(seconds)


async def _count(session: AsyncSession, limit: Limit, key: str, moment: datetime) -> int:
    """Count once. Returns the seconds until the next try is accepted; 0 if this one is."""
    row, ends_at = LimitCountRow, moment + limit.window
    pause_may_grow = limit.longest_pause is not None
    # One statement, which also locks the row until the commit: two tries at once both count.
    tries, window_ends_at, paused_until = (
        await session.execute(
            insert_into(session, row)
            .values(kind=limit.kind, key_hash=key_hash(key), tries=1, ends_at=ends_at)
            .on_conflict_do_update(
                index_elements=[row.kind, row.key_hash],
                set_={"tries": row.tries + 1, "ends_at": ends_at if pause_may_grow else row.ends_at},
            )
            .returning(row.tries, row.ends_at, row.paused_until)
        )
    ).one()
    if not pause_may_grow:
        return seconds_until(window_ends_at, moment) if tries > limit.most else 0
    if paused_until is not None and paused_until > moment:
        return seconds_until(paused_until, moment)
    if pause := limit.pause_after(tries):
        await session.execute(update(row).where(*_is(limit, key)).values(paused_until=moment + pause))
    return 0


async def forget(session: AsyncSession, limit: Limit, key: str) -> None:
    """Forget all tries under this key."""
    await session.execute(delete(LimitCountRow).where(*_is(limit, key)))


async def take_back(session: AsyncSession, limit: Limit, key: str) -> None:
    """Subtract one try. A pause that it caused stays in force."""
    row = LimitCountRow
    await session.execute(update(row).where(*_is(limit, key), row.tries > 0).values(tries=row.tries - 1))


def _is(limit: Limit, key: str) -> tuple[ColumnElement[bool], ...]:
    return LimitCountRow.kind == limit.kind, LimitCountRow.key_hash == key_hash(key)


@dataclass(frozen=True, slots=True)
class Standing:
    """How many tries are left in a window, and when it ends."""

    left: int
    ends_in_s: int


class CountsInMemory:
    """Counts by one limit in this process alone. Belongs to one event loop."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        # By key: the tries, and when their window ends, on the clock of time.monotonic().
        self._counts: dict[str, tuple[int, float]] = {}
        self._swept_at = time.monotonic()

    def count(self, key: str, tries: int = 1) -> None:
        """Count all of these tries or, with the `refusal` of the limit, none of them."""
        moment = time.monotonic()
        self._sweep(moment)
        counted, ends_at = self._current(key, moment)
        if counted + tries > self.limit.most:
            raise self.limit.refused(_whole_seconds(ends_at - moment))
        self._counts[key] = (counted + tries, ends_at)

    def standing(self, key: str) -> Standing:
        """Without counting a try."""
        moment = time.monotonic()
        counted, ends_at = self._counts.get(key, (0, moment))
        if ends_at <= moment:
            return Standing(self.limit.most, 1)
        return Standing(self.limit.most - counted, _whole_seconds(ends_at - moment))

    def _current(self, key: str, moment: float) -> tuple[int, float]:
        found = self._counts.get(key)
        return found if found and found[1] > moment else (0, moment + self.limit.window.total_seconds())

    def _sweep(self, moment: float) -> None:
        """Once in a window, drop the counts that are over: otherwise each address would stay in memory."""
        if moment - self._swept_at >= self.limit.window.total_seconds():
            self._counts = {key: count for key, count in self._counts.items() if count[1] > moment}
            self._swept_at = moment


def seconds_until(moment: datetime, start: datetime) -> int:
    """From `start` on, in whole seconds, of which none is missing and at least one."""
    return _whole_seconds((moment - start).total_seconds())


def _whole_seconds(seconds: float) -> int:
    return max(1, math.ceil(seconds))


def retry_after(seconds: int) -> dict[str, str]:
    """The header that says when the next try is accepted."""
    return {"Retry-After": str(seconds)}


def in_words(seconds: int) -> str:
    """As in "45 s", "2 min" and "3 h", rounded up."""
    if seconds < 120:
        return f"{seconds} s"
    return f"{math.ceil(seconds / 60)} min" if seconds <= 7200 else f"{math.ceil(seconds / 3600)} h"


def key_hash(key: str) -> str:
    # A hash: people sometimes type their password into the name field, and it must not be stored.
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


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
