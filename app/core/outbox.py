"""The outbox: sends what other services receive, each delivery at least once and never twice at the same time.

A delivery is a row, stored in the transaction that makes it necessary. A process leases it for each try
(app/core/lease.py), so that another process takes over if that one dies.

A process tries ten at a time. If they have owners who choose where to send, each owner has a share of the ten, and a
receiver that does not respond holds up nobody else.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Index, Integer, String, and_, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncSession
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


# The condition of a partial index, which queries repeat literally (see app/grading/queue/models.py).
_HAS_FAILED = text("delivered_at IS NULL AND tries > 0 AND answer IS NOT NULL")


def failing_index(table: str) -> Index:
    """For `failing`: few deliveries fail, and many more arrive or wait."""
    name = f"ix_{table}_failing"
    return Index(name, "answer", "next_try_at", sqlite_where=_HAS_FAILED, postgresql_where=_HAS_FAILED)


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
class Owners:
    """Whose deliveries these are.

    Args:
      owner: a column, or a subquery, with one text for each row.
      at_once: how many deliveries of one owner a process tries at a time.
    """

    owner: ColumnElement[str]
    at_once: int


@dataclass(frozen=True, slots=True)
class Failing:
    """Deliveries whose last try failed: how many are tried again, how many were given up, and the latest outcomes."""

    retried: int
    given_up: int
    answers: tuple[str, ...]


async def failing(database: Database, rows: type[OutboxRow]) -> Failing:
    """Those of one table."""
    counts = select(func.count(rows.next_try_at), func.count()).select_from(rows).where(_HAS_FAILED)
    answers = select(rows.answer).where(_HAS_FAILED).group_by(rows.answer).order_by(func.count().desc()).limit(3)
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
      owners: by default, all deliveries have one owner, who has all of the ten.
      only_if: deliveries of other rows are not taken.
      turn_s: how long `send_due` waits for its tries. Those that take longer continue beside the next turns.
    """

    def __init__(
        self,
        what: str,
        database: Database,
        rows: type[R],
        send: Callable[[R], Awaitable[Outcome]],
        *,
        pauses_s: Sequence[float],
        owners: Owners | None = None,
        only_if: Sequence[ColumnElement[bool]] = (),
        turn_s: float | None = None,
    ) -> None:
        self.loop = Loop(f"sending {what}", self.send_due, idle_pause_s=30.0, end=self.stop)
        self._database = database
        self._rows = rows
        self._send = send
        self._pauses_s = pauses_s
        self._owners = owners or Owners(literal(""), _AT_ONCE)
        self._only_if = only_if
        self._turn_s = turn_s
        # With the owner of each.
        self._under_way: dict[asyncio.Task[None], str] = {}

    async def send_due(self) -> int:
        """Begin to try deliveries that are due, so that up to ten are tried at a time. Returns how many it began."""
        self._forget_ended()
        leased = await self.lease_due()
        for row, token, owner in leased:
            self._under_way[asyncio.create_task(self._try(row, token))] = owner
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=self._turn_s)
        self._forget_ended()
        return len(leased)

    def _forget_ended(self) -> None:
        ended = [each for each in self._under_way if each.done()]
        for each in ended:
            del self._under_way[each]
        for each in ended:
            # What cannot be explained is logged by the loop.
            each.result()

    async def stop(self) -> None:
        """End the tries in progress. Another process tries them again when their leases have expired."""
        for each in self._under_way:
            each.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        self._under_way.clear()

    async def lease_due(self) -> list[tuple[R, str, str]]:
        """Lease the deliveries to try now, each with its fence token and its owner."""
        rows = self._rows
        is_due = and_(rows.next_try_at <= now(), is_free(rows), *self._only_if)
        # Read first, so that an idle outbox never takes the write lock, of which SQLite has only one.
        async with self._database.reading() as session:
            owners = await self._choose(session, is_due)
        if not owners:
            return []
        leased = []
        async with self._database.writing() as session:
            chosen = select(rows).where(rows.id.in_(owners), is_due).order_by(rows.next_try_at)
            for row in await lock(session, chosen):
                if row.tries > len(self._pauses_s):
                    row.fence_token = row.lease_until = None
                    row.next_try_at, row.answer = None, "the sender died during each try"
                    continue
                row.tries += 1
                leased.append((row, take(row, _LEASE), owners[row.id]))
        return leased

    async def _choose(self, session: AsyncSession, is_due: ColumnElement[bool]) -> dict[str, str]:
        """The ids of the deliveries to try now, with the owner of each: the first of each owner, then the second."""
        rows, most = self._rows, self._owners.at_once
        trying = Counter(self._under_way.values())
        owner = self._owners.owner.label("owner")
        place = func.row_number().over(partition_by=owner, order_by=(rows.next_try_at, rows.id)).label("place")
        due = select(rows.id.label("id"), owner, place, rows.next_try_at.label("since")).where(is_due).subquery()
        firsts = (
            select(due.c.id, due.c.owner, due.c.place)
            .where(due.c.place <= most, due.c.owner.not_in([each for each, count in trying.items() if count >= most]))
            .order_by(due.c.place, due.c.since)
            .limit(_AT_ONCE)
        )
        # With the tries in progress, the second of an owner may be one too many.
        found = [row for row in await session.execute(firsts) if row.place + trying[row.owner] <= most]
        return {row.id: row.owner for row in found[: max(0, _AT_ONCE - trying.total())]}

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
