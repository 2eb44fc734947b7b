"""Events that cross processes: what a worker says elsewhere is heard by whoever waits for the attempt here."""

import asyncio
import contextlib
import json
import logging
import secrets
from collections import deque

import psycopg
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.queue.events import AttemptEvents, Change

log = logging.getLogger(__name__)

_CHANNEL = "meshgrade_attempts"
_AGAIN_S = 1.0
# While the database is away the oldest are lost. Nothing hangs on them: whoever waits reads the row now and then.
_KEPT = 10_000


class SharedEvents(AttemptEvents):
    """`AttemptEvents` over PostgreSQL's LISTEN and NOTIFY. `run` carries them until it is cancelled."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._self = secrets.token_hex(8)
        self._outbox: deque[str] = deque(maxlen=_KEPT)
        self._news = asyncio.Event()

    def publish(self, attempt_id: str, change: Change) -> None:
        super().publish(attempt_id, change)
        phase = None if change.phase is None else change.phase[:200]
        self._outbox.append(json.dumps({"from": self._self, "id": attempt_id, "status": change.status, "phase": phase}))
        self._news.set()

    async def run(self) -> None:
        await asyncio.gather(self._send_on(), self._listen_on())

    async def _send_on(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            batch = list(self._outbox)
            self._outbox.clear()
            try:
                async with self._database.writing() as session:
                    for payload in batch:
                        await session.execute(select(func.pg_notify(_CHANNEL, payload)))
            except SQLAlchemyError as error:
                log.warning("changes of %d attempts were not told to other processes: %s", len(batch), error)
                await asyncio.sleep(_AGAIN_S)

    async def _listen_on(self) -> None:
        while True:
            with contextlib.suppress(psycopg.Error):
                async with await psycopg.AsyncConnection.connect(
                    self._database.conninfo, autocommit=True
                ) as connection:
                    await connection.execute(f"LISTEN {_CHANNEL}")
                    # What was missed while nobody listened is not known any more.
                    self.forget()
                    async for notice in connection.notifies():
                        self._hear(notice.payload)
            await asyncio.sleep(_AGAIN_S)

    def _hear(self, payload: str) -> None:
        try:
            said = json.loads(payload)
            if said["from"] != self._self:
                self.tell(said["id"], Change(said["status"], said["phase"]))
        except (ValueError, KeyError, TypeError):
            # Whoever may use this database may say anything on the channel: that must not end the listening.
            log.warning("something that is no change of an attempt was said on %s", _CHANNEL)
