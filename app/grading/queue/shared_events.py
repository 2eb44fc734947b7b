"""Events across processes: changes that a worker publishes elsewhere reach everyone who waits for the attempt here."""

import asyncio
import contextlib
import json
import logging
import secrets
from collections import deque

import psycopg
from sqlalchemy import func, select

from app.core.background_loop import Loop
from app.core.database import Database
from app.grading.queue.events import Change, WorkEvents

log = logging.getLogger(__name__)

_CHANNEL = "meshgrade_attempts"
_AGAIN_S = 1.0
# While the database is down, the oldest are lost. Nothing depends on them: those who wait also look at the row.
_MAX_UNSENT = 10_000


class SharedEvents(WorkEvents):
    """`WorkEvents` over PostgreSQL's LISTEN and NOTIFY."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._self = secrets.token_hex(8)
        self._unsent: deque[str] = deque(maxlen=_MAX_UNSENT)
        self._news = asyncio.Event()
        self.loops = [
            Loop("sending changes of attempts to other processes", self._send_changes, _AGAIN_S),
            Loop("listening for changes of attempts", self._listen, _AGAIN_S),
        ]

    def send(self, work_id: str, change: Change) -> None:
        super().send(work_id, change)
        phase = None if change.phase is None else change.phase[:200]
        payload = {"from": self._self, "id": work_id, "status": change.status, "phase": phase}
        self._unsent.append(json.dumps(payload | {"partial": change.partial}))
        self._news.set()

    async def _send_changes(self) -> bool:
        await self._news.wait()
        self._news.clear()
        batch = list(self._unsent)
        self._unsent.clear()
        async with self._database.writing() as session:
            for payload in batch:
                await session.execute(select(func.pg_notify(_CHANNEL, payload)))
        return True

    async def _listen(self) -> None:
        with contextlib.suppress(psycopg.Error):
            async with await psycopg.AsyncConnection.connect(self._database.conninfo, autocommit=True) as connection:
                await connection.execute(f"LISTEN {_CHANNEL}")
                # Changes during the time without a connection are unknown.
                self.forget()
                async for notice in connection.notifies():
                    self._receive(notice.payload)

    def _receive(self, payload: str) -> None:
        try:
            message = json.loads(payload)
            if message["from"] != self._self:
                # A process of the release before sends no `partial`.
                partial = message.get("partial", False)
                self.deliver(message["id"], Change(message["status"], message["phase"], partial))
        except (ValueError, KeyError, TypeError):
            # Any user of this database may send anything on the channel, and that must not end the listener.
            log.warning("a message on %s is not a change of an attempt", _CHANNEL)
