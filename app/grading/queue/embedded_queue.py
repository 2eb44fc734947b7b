"""The queue for one machine: the tables of work and threads of one process, without another server."""

import asyncio
import logging
from datetime import datetime

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.background_loop import Loop
from app.core.clock import now
from app.core.database import Database
from app.core.neighbours import Neighbours
from app.grading.queue.events import WorkEvents
from app.grading.queue.fair_share import back_off, line_up
from app.grading.queue.models import WorkRow
from app.grading.queue.protocol import QueueLimits
from app.grading.queue.slots import Slots
from app.grading.queue.table_queue import TableQueue
from app.grading.queue.walls import Walls

log = logging.getLogger(__name__)

_WALLS_AGAIN_S = 15.0
_TOPIC = "work is waiting"


class EmbeddedQueue(TableQueue):
    """A `GradeQueue`. Belongs to one event loop.

    Args:
      slots: None if this process only queues attempts and one of its neighbours grades them.
      sole: no other process grades for this database, so every row that is running at the start belongs to a dead one.
    """

    def __init__(
        self,
        database: Database,
        slots: Slots | None,
        walls: Walls,
        events: WorkEvents,
        limits: QueueLimits,
        *,
        sole: bool,
        neighbours: Neighbours | None = None,
    ) -> None:
        super().__init__(database, walls, events, limits)
        self._slots = slots
        self._sole = sole
        self._neighbours = neighbours or Neighbours()
        if slots is not None:
            self._neighbours.on(_TOPIC, lambda _: self._news.set())

    async def enqueue(self, session: AsyncSession, work: WorkRow) -> None:
        await line_up(session, work)
        # After the commit: a worker that wakes earlier would find nothing.
        event.listen(session.sync_session, "after_commit", lambda _: self._wake(), once=True)

    def _wake(self) -> None:
        if self._slots is None:
            self._neighbours.send(_TOPIC)
        else:
            self._news.set()

    async def work(self) -> None:
        while self._slots is not None and not self._stopping.is_set():
            try:
                # Before any slot takes a row, or the row would be rescued from a worker that is alive.
                await self._rescue(everything=self._sole)
            except Exception:  # a database that is locked at the start must not keep the service from grading for good
                log.exception("the queue could not be started; trying again in a second")
                await asyncio.sleep(1.0)
            else:
                return await self._work(self._slots)

    async def _work(self, own: Slots) -> None:
        slots = [self._slot(own) for _ in range(self._limits.slots)]
        if own.has_long:
            slots.append(self._slot(own, long=True))
        pause_s = min(self._limits.lease_s / 2, _WALLS_AGAIN_S)
        rescuing = Loop("looking for the work of dead workers", self._rescue, pause_s)
        await self._take_all(slots, rescuing, Loop("probing the walls", self._probe_walls, pause_s))

    async def stop(self, *, grace_s: float = 0.0) -> None:
        self._stopping.set()
        self._news.set()
        if self._slots is not None:
            await self._end(self._slots, grace_s)

    async def _slot(self, own: Slots, *, long: bool = False) -> None:
        while not self._stopping.is_set():
            self._news.clear()
            try:
                taken = await own.take(long=long) if self._walls.are_up else None
                if taken is None:
                    await self._news.wait()
                    continue
                # Another slot may have missed the news of a second row while this one took the first.
                self._news.set()
                if again := await own.do(taken):
                    self._wake_at(again)
                # A rejudge that has ended may be what another slot waited for.
                self._news.set()
            except Exception:  # a slot must survive a busy database; the row's lease expires and it is rescued
                log.exception("a grading slot failed; trying again in a second")
                await asyncio.sleep(1.0)

    def _wake_at(self, moment: datetime) -> None:
        asyncio.get_running_loop().call_later(max(0.0, (moment - now()).total_seconds()), self._news.set)

    async def _rescue(self, *, everything: bool = False) -> None:
        """Return the work of dead workers to the queue, and wake slots for what was returned before and is due."""
        assert self._slots is not None
        async with self._database.writing() as session:
            rescued = await self._slots.rescue(session, everything=everything)
        if rescued:
            log.warning("work queued again because its worker died: %d", rescued)
            # Each waits as after a failed try. Without this, no slot would wake when it is due, but only seconds later.
            for tries in (1, 2, 3):
                self._wake_at(now() + back_off(self._limits.retry_s, tries))
        self._news.set()
