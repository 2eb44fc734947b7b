"""The grading slots of a process: they take the next work in line, of whatever kind, and do it. For both queues."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.database import Database
from app.core.lease import lock
from app.core.migrate import Outdated, refuse_if_outdated
from app.grading.queue.attempt_grading import Gradings
from app.grading.queue.events import Change, WorkEvents
from app.grading.queue.fair_share import Line, serve
from app.grading.queue.grading_tries import GradingProcess
from app.grading.queue.jobs import Job, Jobs
from app.grading.queue.leases import Lease, Leases
from app.grading.queue.models import AttemptRow, WorkRow
from app.grading.queue.protocol import Grader, PackageSource, QueueHooks, QueueLimits
from app.grading.queue.server_code import OtherCode, refuse_other_code
from app.grading.queue.threads import GradingThreads
from app.grading.queue.walls import Walls

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LeasedJob:
    kind: Jobs[Any]
    job: Job[Any]


class Slots:
    """Belongs to one event loop.

    There are two lines: one for what takes seconds, served by `limits.slots` slots, and one for what can take minutes
    (`Jobs.is_long`), served by one further slot, so that short work never waits for long work.

    Life cycle: `take` and `do`, at most `limits.slots` at a time, until `stop`.
    """

    def __init__(
        self,
        database: Database,
        grader: Grader,
        packages: PackageSource,
        walls: Walls,
        events: WorkEvents,
        limits: QueueLimits,
        *,
        hooks: QueueHooks | None = None,
        jobs: Sequence[Jobs[Any]] = (),
        by: GradingProcess,
    ) -> None:
        self._database = database
        self._by = by
        self._walls = walls
        self._leases = Leases(database, limits.lease_s, limits.retry_s, events, hooks, by=by)
        self._gradings = Gradings(self._leases, grader, packages, walls, events, limits)
        self._events = events
        self._limits = limits
        self._jobs = jobs
        self._threads = GradingThreads(limits.slots + 1)
        quick: list[Jobs[Any] | None] = [None, *(each for each in jobs if not each.is_long)]
        self._without_rejudges = _Kinds(quick, [AttemptRow.kind != "rejudge"])
        self._quick = _Kinds(quick)
        self._long = _Kinds([each for each in jobs if each.is_long], long=True)
        self._taking = asyncio.Lock()
        self._rejudging = 0
        self._doing: dict[asyncio.Task[None], Job[Any]] = {}
        self._stopping = False
        events.watch(self._on_change)

    def _on_change(self, work_id: str, change: Change) -> None:
        """End a job that was deleted, because nothing is stored about it any more."""
        for job in self._doing.values():
            if job.row.id == work_id and change.status == "cancelled":
                job.end()

    @property
    def has_long(self) -> bool:
        return bool(self._long.kinds)

    async def take(self, *, long: bool = False) -> Lease | LeasedJob | None:
        """Lease the first work in line; None if there is none that may be taken now, or if this process is older than
        the database or runs another grader than the server.

        Rejudges never take a process's last slot, so that a batch of them does not make anyone wait.
        """
        # One at a time, because the number of rejudges that run decides what may be taken.
        async with self._taking:
            if self._stopping:
                return None
            may_rejudge = self._limits.slots == 1 or self._rejudging < self._limits.slots - 1
            kinds = self._long if long else self._quick if may_rejudge else self._without_rejudges
            try:
                async with self._database.writing() as session:
                    await refuse_if_outdated(session)
                    await refuse_other_code(session, self._by.code)
                    taken = await self._take(session, kinds)
            except Outdated as outdated:
                self._walls.record(outdated)
                log.error("nothing more is taken: %s", outdated)
                return None
            except OtherCode as other:
                self._walls.note_other_code(other)
                return None
            if isinstance(taken, Lease) and taken.kind == "rejudge":
                self._rejudging += 1
            return taken

    async def _take(self, session: AsyncSession, kinds: "_Kinds") -> Lease | LeasedJob | None:
        for number, row_id in await kinds.line.first(session):
            jobs = kinds.kinds[number]
            rows: type[WorkRow] = AttemptRow if jobs is None else jobs.rows
            # Another process may have taken it since.
            found = await lock(session, select(rows).where(rows.id == row_id, rows.is_due()))
            if not found:
                continue
            await serve(session, found[0])
            if jobs is not None:
                return LeasedJob(jobs, jobs.lease(found[0], self._database, self._threads, self._events, self._limits))
            assert isinstance(found[0], AttemptRow)
            return await self._leases.lease(session, found[0])
        return None

    async def do(self, taken: Lease | LeasedJob) -> datetime | None:
        """Returns when to try it again; None if it has ended or the lease was lost."""
        if isinstance(taken, Lease):
            try:
                return await self._gradings.grade(taken)
            finally:
                self._rejudging -= taken.kind == "rejudge"
        task = asyncio.create_task(taken.kind.do(taken.job, self._walls))
        self._doing[task] = taken.job
        try:
            await asyncio.wait([task])
        finally:
            # If this is cancelled, the job returns to the queue first.
            task.cancel()
            await asyncio.wait([task])
            del self._doing[task]
        return None

    async def due(self, session: AsyncSession, *, long: bool = False) -> int:
        """How much work waits that may be taken."""
        found = 0
        for each in (self._long if long else self._quick).kinds:
            rows: type[WorkRow] = AttemptRow if each is None else each.rows
            conditions = () if each is None else each.only_if
            found += await session.scalar(select(func.count()).where(rows.is_due(), *conditions)) or 0
        return found

    async def rescue(self, session: AsyncSession, *, everything: bool = False) -> int:
        """Return the work of dead workers to the queue, in the caller's transaction."""
        own = [*self._gradings.tokens, *(job.token for job in self._doing.values())]
        rescued = await self._leases.rescue(session, max_deaths=self._limits.max_deaths, everything=everything, own=own)
        for each in self._jobs:
            rescued += await each.rescue(session, everything=everything, own=own)
        return rescued

    async def stop(self, *, grace_s: float) -> None:
        """Take nothing more, let gradings finish for `grace_s`, then return everything to the queue."""
        self._stopping = True
        await self._gradings.stop(grace_s=grace_s)
        for each in self._doing:
            each.cancel()
        if self._doing:
            await asyncio.wait(self._doing)


class _Kinds:
    """Kinds of work, and the line of all of them. None are attempts."""

    def __init__(
        self, kinds: Sequence[Jobs[Any] | None], of_attempts: Sequence[Any] = (), *, long: bool = False
    ) -> None:
        self.kinds = kinds
        tables = [(AttemptRow, of_attempts) if each is None else (each.rows, each.only_if) for each in kinds]
        self.line = Line(tables, long=long)
