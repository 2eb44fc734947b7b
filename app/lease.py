"""Leases: a process takes a row, holds it until a stated time, and writes to it under the fence token that it drew.

Attempts, validations and deliveries are worked on in the background by any number of processes, and each of these can
die or be paused at any time. When a lease is over, another process takes the row and draws another token, so a write by
the first one changes nothing. A rejudge needs no lease: each of its steps is one transaction, which locks its row.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, CursorResult, Select, String, or_, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.database import UTCDateTime
from app.ids import new_id

# What a write also sets to let go of the row.
FREE: dict[str, Any] = {"fence_token": None, "lease_until": None}


class LeasedRow:
    """The columns of a table whose rows are taken. Nobody holds a row without a `fence_token`."""

    id: Mapped[str]
    fence_token: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None] = mapped_column(UTCDateTime())


R = TypeVar("R", bound=LeasedRow)


def is_free(row: type[LeasedRow]) -> ColumnElement[bool]:
    """Nobody holds the row, or its lease is over."""
    return or_(row.lease_until.is_(None), row.lease_until < now())


async def lock(session: AsyncSession, rows: Select[R]) -> Sequence[R]:
    """Read these rows to take some of them in this transaction.

    On PostgreSQL, two processes then find different rows. SQLite has one writer anyway, and ignores the lock.
    """
    return (await session.scalars(rows.with_for_update(skip_locked=True))).all()


def take(row: LeasedRow, life: timedelta) -> str:
    """Hold a row that this transaction has locked. Returns its new fence token."""
    row.fence_token = new_id()
    row.lease_until = now() + life
    return row.fence_token


async def write(session: AsyncSession, row: type[LeasedRow], row_id: str, token: str, /, **values: Any) -> bool:
    """Write to a row that is still held under this token; `False` if another process holds it by now, or nobody."""
    done = await session.execute(
        update(row)
        .where(row.id == row_id, row.fence_token == token)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    return isinstance(done, CursorResult) and done.rowcount == 1
