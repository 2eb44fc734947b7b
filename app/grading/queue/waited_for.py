"""What the database has of all attempts that somebody waits for in this process, read for all of them at once."""

import asyncio
import math
import time
from collections.abc import Set
from typing import cast

from sqlalchemy import select

from app.core.database import Database
from app.grading.queue.events import Change, WorkEvents
from app.grading.queue.models import AttemptRow
from app.grading.queue.queue_places import Places
from app.grading.queue.status import AttemptStatus, Glance

# The least pause between two looks at a line that moves.
_REST_S = 2.5
# Reading takes at most this share of the time, however long the line is.
_SHARE = 0.02
# Otherwise it is read only in case that a change was missed, such as an attempt that was deleted.
_SAFE_S = 10.0
_IDS_AT_ONCE = 500


class WaitedFor:
    """Belongs to one event loop."""

    def __init__(self, database: Database, events: WorkEvents, places: Places) -> None:
        self._database, self._events, self._places = database, events, places
        self._turn = asyncio.Lock()
        self._asked: Set[str] = frozenset()
        self._seen: dict[str, Glance] = {}
        self._read_at, self._rest_s = -math.inf, _REST_S
        self._moved = True
        for watch in (events.watch, events.watch_here):
            watch(self._note)

    async def glance(self, attempt_id: str) -> Glance | None:
        """An attempt as it was a few seconds ago at most, as far as this process knows; None if it was deleted."""
        async with self._turn:
            if attempt_id not in self._asked or not self._is_current():
                await self._read({attempt_id, *self._events.waited_for})
        return self._seen.get(attempt_id)

    def _note(self, attempt_id: str, change: Change) -> None:
        self._moved = True

    def _is_current(self) -> bool:
        age_s = time.monotonic() - self._read_at
        return age_s < (self._rest_s if self._moved else _SAFE_S)

    async def _read(self, ids: Set[str]) -> None:
        began = time.monotonic()
        self._moved = False
        async with self._database.reading() as session:
            placed = await self._places.of_those(session, ids)
            seen = {each: Glance("queued", place) for each, place in placed.items()}
            others = sorted(ids - placed.keys())
            for number in range(0, len(others), _IDS_AT_ONCE):
                some = AttemptRow.id.in_(others[number : number + _IDS_AT_ONCE])
                for found, status in await session.execute(select(AttemptRow.id, AttemptRow.status).where(some)):
                    seen[found] = Glance(cast(AttemptStatus, status), None)
        self._asked, self._seen, self._read_at = ids, seen, time.monotonic()
        self._rest_s = max(_REST_S, (self._read_at - began) / _SHARE)
