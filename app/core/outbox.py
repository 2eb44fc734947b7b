"""The outbox: sends what other services receive, each delivery at least once and never twice at the same time.

A delivery is a row, stored in the transaction that makes it necessary. A process leases it for each try
(app/core/lease.py), so that another process takes over if that one dies.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import Integer, String, and_, func, select
from sqlalchemy.orm import Mapped, mapped_column

from app.core.background_loop import Loop
from app.core.clock import now
from app.core.database import Database, UTCDateTime
from app.core.lease import FREE, LeasedRow, is_free, lock, take, write

_AT_ONCE = 10
# Longer than any try takes, so another process takes a delivery only if the first one died.
_LEASE = timedelta(minutes=2)


class OutboxRow(LeasedRow):
    """The columns of a table of deliveries. `next_try_at` is null while nothing waits to be sent. `answer` is the
    outcome of the last try."""

    tries: Mapped[int] = mapped_column(Integer())
    next_try_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    delivered_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    answer: Mapped[str | None] = mapped_column(String(200))


def due_now() -> dict[str, Any]:
    """The values of a new delivery, or of one to send again, even if a process is sending it."""
    return {"next_try_at": now(), "tries": 0, **FREE}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a try.

    Args:
      again_at: when the delivery is due again, even if it arrived. Without it, one that failed is due after a pause.
      is_sent: False if nothing was sent. Then the try does not count, and without `again_at` it was the last one.
    """

    arrived: bool
    answer: str | None
    again_at: datetime | None = None
    is_sent: bool = True


@dataclass(frozen=True, slots=True)
class Failing:
    """Deliveries whose last try failed: how many are tried again, how many were given up, and the latest outcomes."""

    retried: int
    given_up: int
    answers: tuple[str, ...]


async def failing(database: Database, rows: type[OutboxRow]) -> Failing:
    """Those of one table."""
    has_failed = and_(rows.delivered_at.is_(None), rows.tries > 0, rows.answer.is_not(None))
    counts = select(func.count(rows.next_try_at), func.count()).where(has_failed)
    answers = select(rows.answer).where(has_failed).group_by(rows.answer).order_by(func.count().desc()).limit(3)
    async with database.reading() as session:
        retried, every = (await session.execute(counts)).one()
        return Failing(retried, every - retried, tuple(each or "" for each in await session.scalars(answers)))


R = TypeVar("R", bound=OutboxRow)


class Outbox(Generic[R]):
    """One kind of deliveries. Any number of processes may have one: only one of them takes a delivery at a time.

    Args:
      what: is sent where, for the log.
      send: makes and sends a delivery. It may raise what it cannot explain: the delivery is tried again once its lease
        has expired.
      pauses_s: after each try that failed. The one after the last pause is the last try.
    """

    def __init__(
        self,
        what: str,
        database: Database,
        rows: type[R],
        send: Callable[[R], Awaitable[Outcome]],
        *,
        pauses_s: Sequence[float],
    ) -> None:
        self.loop = Loop(f"sending {what}", self.send_due, idle_pause_s=30.0)
        self._database = database
        self._rows = rows
        self._send = send
        self._pauses_s = pauses_s

    async def send_due(self) -> int:
        """Try up to ten deliveries that are due. Returns how many were tried."""
        leased = await self.lease_due()
        await asyncio.gather(*(self._try(row, token) for row, token in leased))
        return len(leased)

    async def lease_due(self) -> list[tuple[R, str]]:
        """Lease the deliveries to try now, each with its fence token."""
        rows = self._rows
        is_due = and_(rows.next_try_at <= now(), is_free(rows))
        # Read first, so that an idle outbox never takes the write lock, of which SQLite has only one.
        async with self._database.reading() as session:
            if await session.scalar(select(rows.id).where(is_due).limit(1)) is None:
                return []
        leased = []
        async with self._database.writing() as session:
            for row in await lock(session, select(rows).where(is_due).order_by(rows.next_try_at).limit(_AT_ONCE)):
                if row.tries > len(self._pauses_s):
                    row.fence_token = row.lease_until = None
                    row.next_try_at, row.answer = None, "the sender died during each try"
                    continue
                row.tries += 1
                leased.append((row, take(row, _LEASE)))
        return leased

    async def _try(self, row: R, token: str) -> None:
        outcome = await self._send(row)
        again_at = outcome.again_at
        if again_at is None and not outcome.arrived and outcome.is_sent and row.tries <= len(self._pauses_s):
            again_at = now() + timedelta(seconds=self._pauses_s[row.tries - 1])
        answer = None if outcome.answer is None else outcome.answer[:200]
        values: dict[str, Any] = {"next_try_at": again_at, "answer": answer}
        if outcome.is_sent:
            values["delivered_at"] = now() if outcome.arrived else None
        else:
            values["tries"] = row.tries - 1
        async with self._database.writing() as session:
            # `False` if it was deleted, if it became due again, or if another process took it after too long a pause.
            await write(session, self._rows, row.id, token, **FREE, **values)
