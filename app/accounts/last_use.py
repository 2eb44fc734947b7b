"""When a session or an API token was last used, written every few minutes instead of with every request."""

import contextlib
from datetime import timedelta

from sqlalchemy import update

from app.accounts.models import APITokenRow, SessionRow
from app.core.clock import now
from app.core.database import UNAVAILABLE, Database

_EVERY = timedelta(minutes=5)


async def note_use(database: Database, row: SessionRow | APITokenRow) -> None:
    """Call it outside any transaction."""
    if row.last_used_at is not None and now() - row.last_used_at < _EVERY:
        return
    table = type(row)
    # A database that is locked for a while must not refuse a user who only reads. The next request writes the time.
    with contextlib.suppress(*UNAVAILABLE):
        async with database.writing() as session:
            await session.execute(update(table).where(table.token_hash == row.token_hash).values(last_used_at=now()))
