"""The key pairs with which this tool signs, and their rotation.

A new key is published at once and signs only a little later, so that platforms that remember the published keys for a
while know it by then. An old key stays published for a week after the next one has replaced it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from joserfc.jwk import RSAKey
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.core.sealed_keys import KeySeal
from app.teaching.lti.models import KeyRow

# How long a key is published before it signs, how long after, and at what age the next one is created.
UNTIL_USE = timedelta(minutes=10)
AFTER_USE = timedelta(days=7)
_LIFE = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class KeyView:
    id: str
    created_at: datetime
    signs: bool


class ToolKeys:
    """Safe to share between requests and processes."""

    def __init__(self, database: Database, deployment_secret: bytes) -> None:
        self._database = database
        self._seal = KeySeal(deployment_secret, "lti key")

    async def signing(self) -> RSAKey:
        """The key that signs now. The first one is created when it is needed, and each next one after three months."""
        rows = await self._rows()
        if not rows or rows[-1].created_at < now() - _LIFE:
            async with self._database.writing() as session:
                self._add(session)
            rows = await self._rows()
        return self._seal.open(_signing(rows).sealed)

    async def published(self) -> dict[str, Any]:
        """The public keys, as a JSON Web Key Set."""
        await self.signing()
        keys = [self._seal.open(row.sealed) for row in _current(await self._rows())]
        return {"keys": [key.as_dict(private=False) for key in keys]}

    async def views(self) -> list[KeyView]:
        """Newest first."""
        rows = _current(await self._rows())
        return [KeyView(row.id, row.created_at, row is _signing(rows)) for row in reversed(rows)]

    async def rotate(self, owner: User) -> str:
        """Create the next key, and remove those that are no longer published. Returns its id."""
        await self.signing()
        rows = await self._rows()
        gone = {row.id for row in rows} - {row.id for row in _current(rows)}
        async with self._database.writing() as session:
            await session.execute(delete(KeyRow).where(KeyRow.id.in_(gone)))
            key_id = self._add(session)
            record(session, owner, "lti-key-rotated", None, "")
        return key_id

    def _add(self, session: AsyncSession) -> str:
        key_id = new_id()
        session.add(KeyRow(id=key_id, sealed=self._seal.create(key_id), created_at=now()))
        return key_id

    async def _rows(self) -> list[KeyRow]:
        async with self._database.reading() as session:
            return list(await session.scalars(select(KeyRow).order_by(KeyRow.created_at, KeyRow.id)))


def _signing(rows: list[KeyRow]) -> KeyRow:
    """The newest that has been published for long enough, or the oldest of all."""
    return next((row for row in reversed(rows) if row.created_at <= now() - UNTIL_USE), rows[0])


def _current(rows: list[KeyRow]) -> list[KeyRow]:
    """The published ones: without those that a key replaced long ago. `rows` are in the order of their age."""
    gone = {old.id for old, new in pairwise(rows) if new.created_at + UNTIL_USE + AFTER_USE <= now()}
    return [row for row in rows if row.id not in gone]
