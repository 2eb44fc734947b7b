"""What both queues have in common: whatever wakes their slots, the work is in tables, and the walls must be up."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from app.core.background_loop import Loop
from app.core.database import Database
from app.grading.queue.events import Change, WorkEvents
from app.grading.queue.leases import cancel_row, count_waiting
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import QueueLimits, QueueStats
from app.grading.queue.queue_places import Places
from app.grading.queue.slots import Slots
from app.grading.queue.status import Glance, QueuePlace
from app.grading.queue.waited_for import WaitedFor
from app.grading.queue.walls import Walls

_LAST_TAKEN_S = 1.0


class TableQueue:
    """The part of a `GradeQueue` that is the same in both. Belongs to one event loop."""

    def __init__(self, database: Database, walls: Walls, events: WorkEvents, limits: QueueLimits) -> None:
        self._database = database
        self._walls = walls
        self._events = events
        self._limits = limits
        self._places = Places(database)
        self._waited_for = WaitedFor(database, events, self._places)
        # When there may be something to take, after a probe of the walls, and at the end.
        self._news = asyncio.Event()
        self._stopping = asyncio.Event()
        self._takers: list[asyncio.Task[None]] = []

    async def cancel(self, attempt_id: str) -> bool:
        async with self._database.writing() as session:
            cancelled = await cancel_row(session, attempt_id)
        if cancelled:
            self._events.publish(attempt_id, Change("cancelled", None))
        return cancelled

    async def place(self, attempt: AttemptRow) -> QueuePlace | None:
        return await self._places.of(attempt)

    async def glance(self, attempt_id: str) -> Glance | None:
        return await self._waited_for.glance(attempt_id)

    async def stats(self) -> QueueStats:
        async with self._database.reading() as session:
            return await count_waiting(session)

    async def _take_all(self, takers: Iterable[Coroutine[Any, Any, None]], *loops: Loop) -> None:
        """Run what takes work until it ends, which it does after `_end`, and the loops beside it."""
        self._takers = [asyncio.create_task(each) for each in takers]
        beside = [asyncio.create_task(each.run()) for each in loops]
        try:
            await asyncio.gather(*self._takers, return_exceptions=True)
        finally:
            for each in beside:
                each.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def _end(self, slots: Slots, grace_s: float) -> None:
        await slots.stop(grace_s=grace_s)
        if self._takers:
            # What was just taking a row returns it. After this, only those are left whose judge does not stop.
            await asyncio.wait(self._takers, timeout=_LAST_TAKEN_S)
        for task in self._takers:
            task.cancel()
        await asyncio.gather(*self._takers, return_exceptions=True)

    async def _probe_walls(self) -> None:
        if not self._walls.are_up:
            await asyncio.to_thread(self._walls.probe)
        self._news.set()
