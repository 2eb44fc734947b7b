"""Leases: a process leases a row until a stated time, and writes to it with the fence token that it drew.

Any number of processes work on attempts, validations and deliveries in the background, and each of them can die or be
paused at any time. When a lease has expired, another process takes the row and draws a new token, so a write by the
first process changes nothing. A rejudge needs no lease: each of its steps is one transaction, which locks its row.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, CursorResult, Select, String, or_, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import FromNow, UTCDateTime
from app.core.ids import new_id

# How often a lease is renewed in its life.
_RENEWALS = 3
# The values with which a write also gives up the lease.
FREE: dict[str, Any] = {"fence_token": None, "lease_until": None}


class LeasedRow:
    """The columns of a table with leases. A row without a `fence_token` is not leased."""

    id: Mapped[str]
    fence_token: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None] = mapped_column(UTCDateTime())


R = TypeVar("R", bound=LeasedRow)
T = TypeVar("T")


def is_free(row: type[LeasedRow]) -> ColumnElement[bool]:
    """Whether the row is not leased, or its lease has expired."""
    return or_(row.lease_until.is_(None), row.lease_until < FromNow())


def not_held(row: type[LeasedRow], tokens: Collection[str]) -> ColumnElement[bool]:
    """Whether the row is leased with none of these tokens."""
    return or_(row.fence_token.is_(None), row.fence_token.not_in(tokens))


async def lock(session: AsyncSession, rows: Select[R]) -> Sequence[R]:
    """Read these rows in order to lease some of them in this transaction.

    On PostgreSQL, two processes then find different rows. SQLite ignores the lock, because it has one writer anyway.
    """
    return (await session.scalars(rows.with_for_update(skip_locked=True))).all()


def until(life: timedelta) -> Any:
    """When a lease ends that begins now. The database's clock decides, so clocks of workers may differ."""
    return FromNow(life.total_seconds())


def take(row: LeasedRow, life: timedelta) -> str:
    """Lease a row that this transaction has locked. Returns the new fence token."""
    row.fence_token = new_id()
    row.lease_until = until(life)
    return row.fence_token


async def write(session: AsyncSession, row: type[LeasedRow], row_id: str, token: str, /, **values: Any) -> bool:
    """Write to a row that is still leased with this token. `False` if the lease has ended or another process has it."""
    done = await session.execute(
        update(row)
        .where(row.id == row_id, row.fence_token == token)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    return isinstance(done, CursorResult) and done.rowcount == 1


async def while_leased(call: Awaitable[T], renew: Callable[[], Awaitable[bool]], life: timedelta) -> T | None:
    """The result of `call`, or None if the lease was lost: `renew` extends it, and returns whether it
    still exists. Cancelling ends the wait and not what `call` waits for.
    """
    task = asyncio.ensure_future(call)
    try:
        while not (await asyncio.wait([task], timeout=life.total_seconds() / _RENEWALS))[0]:
            if not await renew():
                return None
        return task.result()
    finally:
        task.cancel()
