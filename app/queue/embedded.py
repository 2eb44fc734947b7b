"""The queue for one machine: the tables of work and threads of this process, without another server."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock import now
from app.database import Database
from app.queue.events import AttemptEvents, Change
from app.queue.grading import Gradings
from app.queue.jobs import Jobs
from app.queue.leases import Leases, cancel_row, count_waiting
from app.queue.models import AttemptRow, WorkRow
from app.queue.protocol import Grader, PackageSource, QueueHooks, QueueLimits, QueueStats
from app.queue.slots import Slots
from app.queue.turns import Places, QueuePlace, back_off, line_up
from app.queue.walls import Walls

log = logging.getLogger(__name__)

_WALLS_AGAIN_S = 15.0
_LAST_TAKEN_S = 0.5


class EmbeddedQueue:
    """A `GradeQueue`. Belongs to one event loop.

    Args:
      sole: no other process uses this database, so every row that is running at the start belongs to a dead one.
    """

    def __init__(
        self,
        database: Database,
        grader: Grader,
        packages: PackageSource,
        walls: Walls,
        events: AttemptEvents,
        limits: QueueLimits,
        *,
        sole: bool,
        hooks: QueueHooks | None = None,
        jobs: Sequence[Jobs[Any]] = (),
    ) -> None:
        self._database = database
        self._walls = walls
        self._events = events
        self._limits = limits
        self._sole = sole
        leases = Leases(database, limits.lease_s, limits.retry_s, events, hooks)
        gradings = Gradings(leases, grader, packages, walls, events, limits)
        self._slots = Slots(database, walls, leases, gradings, jobs, limits)
        self._places = Places(database)
        self._news = asyncio.Event()
        self._stopping = False
        self._workers: list[asyncio.Task[None]] = []

    async def enqueue(self, session: AsyncSession, work: WorkRow) -> None:
        await line_up(session, work)
        # After the commit: a worker that wakes earlier would find nothing.
        event.listen(session.sync_session, "after_commit", lambda _: self._news.set(), once=True)

    async def cancel(self, attempt_id: str) -> bool:
        async with self._database.writing() as session:
            cancelled = await cancel_row(session, attempt_id)
        if cancelled:
            self._events.publish(attempt_id, Change("cancelled", None))
        return cancelled

    async def place(self, attempt: AttemptRow) -> QueuePlace | None:
        return await self._places.of(attempt)

    async def stats(self) -> QueueStats:
        async with self._database.reading() as session:
            return await count_waiting(session)

    async def work(self) -> None:
        # Before any slot takes a row, or the row would be rescued from a worker that is alive.
        while not self._stopping and not await self._rescued_all():
            await asyncio.sleep(1.0)
        if self._stopping:
            return
        slots = [self._slot() for _ in range(self._limits.slots)]
        if self._slots.has_long:
            slots.append(self._slot(long=True))
        self._workers = [asyncio.create_task(each) for each in (*slots, self._maintain())]
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def stop(self, *, grace_s: float = 0.0) -> None:
        self._stopping = True
        self._news.set()
        await self._slots.stop(grace_s=grace_s)
        if self._workers:
            # A worker that was just taking a row returns it. After this, only those are left whose judge does not stop.
            await asyncio.wait(self._workers[:-1], timeout=_LAST_TAKEN_S)
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def _slot(self, *, long: bool = False) -> None:
        while not self._stopping:
            self._news.clear()
            try:
                taken = await self._slots.take(long=long) if self._walls.are_up else None
                if taken is None:
                    await self._news.wait()
                    continue
                # Another slot may have missed the news of a second row while this one took the first.
                self._news.set()
                if again := await self._slots.do(taken):
                    self._wake_at(again)
                # A rejudge that has ended may be what another slot waited for.
                self._news.set()
            except Exception:  # a slot must survive a busy database; the row's lease expires and it is rescued
                log.exception("a grading slot failed; trying again in a second")
                await asyncio.sleep(1.0)

    def _wake_at(self, moment: datetime) -> None:
        asyncio.get_running_loop().call_later(max(0.0, (moment - now()).total_seconds()), self._news.set)

    async def _maintain(self) -> None:
        """Rescue rows with an expired lease, wake slots for rescued rows that are due, and probe missing walls."""
        pause_s = min(self._limits.lease_s / 2, _WALLS_AGAIN_S)
        while not self._stopping:
            try:
                if not self._walls.are_up:
                    await asyncio.to_thread(self._walls.probe)
                    self._news.set()
                await asyncio.sleep(pause_s)
                await self._rescue(everything=False)
            except Exception:  # as in a slot
                log.exception("looking after the queue failed; trying again in a second")
                await asyncio.sleep(1.0)
            self._news.set()

    async def _rescued_all(self) -> bool:
        try:
            await self._rescue(everything=self._sole)
        except Exception:  # a database that is locked at the start must not keep the service from grading for good
            log.exception("the queue could not be started; trying again in a second")
            return False
        return True

    async def _rescue(self, *, everything: bool) -> None:
        async with self._database.writing() as session:
            rescued = await self._slots.rescue(session, everything=everything)
        if rescued:
            log.warning("work queued again because its worker died: %d", rescued)
            # Each waits as after a failed try. Without this, no slot would wake when it is due, but only seconds later.
            for tries in (1, 2, 3):
                self._wake_at(now() + back_off(self._limits.retry_s, tries))
