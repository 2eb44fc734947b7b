"""When a session or an API token was last used, written every few minutes instead of with every request."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Update, bindparam, update

from app.accounts.models import APITokenRow, SessionRow
from app.core.background_loop import Loop
from app.core.clock import now
from app.core.database import Database, UTCDateTime

_EVERY = timedelta(minutes=5)
_PAUSE_S = 5.0


class LastUse:
    """Notes uses in memory; `loop` writes those of several requests at once, so that no reader waits for a writer.

    A use that is lost with the process is noted again by the next request.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._noted: dict[str, dict[str, datetime]] = {}
        self.loop = Loop("noting when sessions and tokens were used", self.write, pause_s=_PAUSE_S)

    def note(self, table: str, token_hash: str, last_used_at: datetime | None) -> None:
        """`last_used_at` is what is stored."""
        moment = now()
        if last_used_at is None or moment - last_used_at >= _EVERY:
            self._noted.setdefault(table, {})[token_hash] = moment

    async def write(self) -> int:
        """Write all uses that were noted, and return their number."""
        noted, self._noted = self._noted, {}
        if noted:
            async with self._database.writing() as session:
                for table, uses in noted.items():
                    await session.execute(_WRITE[table], _values(uses))
        return sum(map(len, noted.values()))


def _write(table: Any) -> Update:
    # Not the class: with many parameters, SQLAlchemy would take them for objects that it has to match by their keys.
    return (
        update(table)
        .where(table.c.token_hash == bindparam("used"))
        .values(last_used_at=bindparam("moment", type_=UTCDateTime))
    )


_WRITE = {row.__tablename__: _write(row.__table__) for row in (SessionRow, APITokenRow)}


def _values(uses: Mapping[str, datetime]) -> list[dict[str, object]]:
    return [{"used": token_hash, "moment": moment} for token_hash, moment in uses.items()]
