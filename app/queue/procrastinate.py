"""The queue past one machine: Procrastinate carries jobs on PostgreSQL, the attempts table says what they come to.

A job holds the id of an attempt and nothing else, and stands in line by the attempt's own priority and turn. A worker
that gets one takes the attempt's lease, so everything that the embedded queue promises is promised by the same code
here. Jobs are told to run again by three rules: a try that failed, by Procrastinate's retry; a worker that died, by the
sweep, which every grading process makes; an attempt that has no job (restored from a backup), by the sweep, too.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from procrastinate import App, BaseRetryStrategy, PsycopgConnector, RetryDecision
from procrastinate.jobs import Job
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock import now
from app.database import Database
from app.queue.events import AttemptEvents, Change
from app.queue.grading import Gradings
from app.queue.leases import Lease, Leases, cancel_row, count_waiting
from app.queue.models import AttemptRow
from app.queue.protocol import Grader, PackageSource, QueueHooks, QueueLimits, QueueStats
from app.queue.turns import PRIORITY, Places, QueuePlace, line_up
from app.queue.walls import Walls

log = logging.getLogger(__name__)

_GRADE, _REJUDGE = "grade", "rejudge"
_WALLS_AGAIN_S = 15.0
# How long a job that waits for its moment may wait on after it: Procrastinate wakes workers for new jobs only.
_POLL_S = 1.0
_STARTED_AGAIN_S = 1.0
# Procrastinate orders by one 32-bit number, the highest first: a step is ten seconds of turn, and there is room for
# thirty years of them in each priority.
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_STEP = timedelta(seconds=10)
_STEPS = 100_000_000
# Any number, as long as it is this everywhere: one process sweeps at a time.
_SWEEP_LOCK = 0x7377656570


class TryAgain(Exception):
    """A job is to run again at this moment."""

    def __init__(self, moment: datetime) -> None:
        super().__init__(f"again at {moment}")
        self.moment = moment


class _Retry(BaseRetryStrategy):
    """Without end: the attempt's own tries are counted in its row, and an attempt that has ended ends its job."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        moment = exception.moment if isinstance(exception, TryAgain) else now() + timedelta(seconds=_POLL_S)
        return RetryDecision(retry_at=moment)


class ProcrastinateQueue:
    """A `GradeQueue`. Belongs to one event loop; any number of processes may work on one database.

    Args:
      grader: None where this process does not grade: then it only queues, and others work.
    """

    def __init__(
        self,
        database: Database,
        grader: Grader | None,
        packages: PackageSource,
        walls: Walls,
        events: AttemptEvents,
        limits: QueueLimits,
        *,
        hooks: QueueHooks | None = None,
    ) -> None:
        self._database = database
        self._walls = walls
        self._events = events
        self._limits = limits
        self._leases = Leases(database, limits.lease_s, limits.retry_s, events, hooks)
        self._places = Places(database)
        self._gradings = Gradings(self._leases, grader, packages, walls, events, limits) if grader else None
        self._app = App(connector=PsycopgConnector(conninfo=database.conninfo, min_size=1, max_size=limits.slots + 4))
        self._task = self._app.task(name="grade", retry=_Retry())(self._run_job)
        self._tasks: list[asyncio.Task[None]] = []
        self._workers: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()

    async def enqueue(self, session: AsyncSession, attempt: AttemptRow) -> None:
        await line_up(session, attempt)
        await self._defer(session, attempt)

    async def cancel(self, attempt_id: str) -> bool:
        async with self._database.writing() as session:
            cancelled = await cancel_row(session, attempt_id)
            # Not by Procrastinate's own cancel, which would not be part of this transaction. A worker that grades the
            # attempt hears of the change, and ends its job by itself.
            waiting = text("DELETE FROM procrastinate_jobs WHERE queueing_lock = :id AND status = 'todo'")
            await session.execute(waiting, {"id": attempt_id})
        if cancelled:
            self._events.publish(attempt_id, Change("cancelled", None))
        return cancelled

    async def place(self, attempt: AttemptRow) -> QueuePlace | None:
        return await self._places.of(attempt)

    async def stats(self) -> QueueStats:
        async with self._database.reading() as session:
            return await count_waiting(session)

    async def work(self) -> None:
        while self._gradings is not None and not self._stopping.is_set():
            try:
                await self._work()
            except Exception:  # a database that does not answer at the start must not keep this from grading ever
                log.exception("the queue could not be begun; trying again in a second")
                await self._pause(_STARTED_AGAIN_S)

    async def _work(self) -> None:
        async with self._app.open_async():
            # The first slot takes no rejudge, so that a batch of them keeps nobody waiting.
            work = [self._supervise([_GRADE] if self._limits.slots > 1 else [_GRADE, _REJUDGE], 1)]
            if self._limits.slots > 1:
                work.append(self._supervise([_GRADE, _REJUDGE], self._limits.slots - 1))
            self._tasks = [asyncio.create_task(each) for each in (*work, self._sweep_on(), self._prove_walls())]
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def stop(self, *, grace_s: float = 0.0) -> None:
        self._stopping.set()
        if self._gradings is None:
            return
        # Each takes no further job from now on, and ends with its last one.
        self._stop_workers()
        await self._gradings.stop(grace_s=grace_s)
        if self._tasks:
            # A worker that still waits for a judge which heeds nothing is left to die with the process.
            await asyncio.wait(self._tasks, timeout=_STARTED_AGAIN_S)
        for task in self._tasks:
            task.cancel()

    async def _defer(self, session: AsyncSession, attempt: AttemptRow) -> None:
        """Add a job in the session's own transaction, which is what its raw connection is in."""
        raw = await (await session.connection()).get_raw_connection()
        await self._task.configure(
            connection=raw.driver_connection,
            queue=_REJUDGE if attempt.priority == PRIORITY["rejudge"] else _GRADE,
            priority=_place_in_line(attempt),
            # One job that waits for each attempt; also how the sweep finds it.
            queueing_lock=attempt.id,
        ).defer_async(attempt_id=attempt.id)

    async def _run_job(self, *, attempt_id: str) -> None:
        assert self._gradings is not None
        if not self._walls.stand:
            raise TryAgain(now() + timedelta(seconds=_POLL_S))
        taken = await self._leases.take_one(attempt_id)
        again = await self._gradings.grade(taken) if isinstance(taken, Lease) else taken
        if not self._walls.stand:
            self._stop_workers()
        if again is not None:
            raise TryAgain(again)

    def _stop_workers(self) -> None:
        for worker in self._workers:
            worker.cancel()

    async def _supervise(self, queues: list[str], concurrency: int) -> None:
        """Keep a worker of Procrastinate running: one ends by itself when the database goes away, or forgot it."""
        while not self._stopping.is_set():
            if not self._walls.stand:
                await self._pause(_POLL_S)
                continue
            worker = asyncio.create_task(self._run_worker(queues, concurrency))
            self._workers.add(worker)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([worker])
            self._workers.discard(worker)
            if not worker.done():
                worker.cancel()
                return
            if not worker.cancelled() and (error := worker.exception()):
                log.error("a worker ended and is started again: %s", error)
            await self._pause(_STARTED_AGAIN_S)

    async def _run_worker(self, queues: list[str], concurrency: int) -> None:
        await self._app.run_worker_async(
            queues=queues,
            concurrency=concurrency,
            fetch_job_polling_interval=_POLL_S,
            update_heartbeat_interval=self._limits.lease_s / 3,
            stalled_worker_timeout=self._limits.lease_s,
            # The attempts table is what is kept; a table of jobs that ended would only grow.
            delete_jobs="always",
            install_signal_handlers=False,
        )

    async def _prove_walls(self) -> None:
        while not self._stopping.is_set():
            if not self._walls.stand:
                await asyncio.to_thread(self._walls.probe)
            await self._pause(_WALLS_AGAIN_S)

    async def _sweep_on(self) -> None:
        while not self._stopping.is_set():
            try:
                await self._sweep()
            except Exception:  # the database may be gone for a while; the next sweep finds the same work
                log.exception("looking after the queue stumbled")
            await self._pause(self._limits.lease_s / 3)

    async def _sweep(self) -> None:
        """Queue again what dead workers held, and give a job to each attempt that has none."""
        async with self._database.writing() as session:
            if not await session.scalar(select(func.pg_try_advisory_xact_lock(_SWEEP_LOCK))):
                return
            rescued = await self._leases.rescue_in(session, max_deaths=self._limits.max_deaths, everything=False)
            if rescued:
                log.warning("%d attempts whose worker died were queued again", rescued)
            for job in await self._stalled():
                assert job.id is not None
                await self._app.job_manager.retry_job_by_id_async(job.id, retry_at=now())
            for attempt in await _without_job(session):
                await self._defer(session, attempt)

    async def _stalled(self) -> Iterable[Job]:
        # By heartbeat, which a worker misses that died or was paused. Not as a periodic task with a lock, as is often
        # shown: that lock is held by the very worker that died.
        return await self._app.job_manager.get_stalled_jobs(seconds_since_heartbeat=self._limits.lease_s)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)


def _place_in_line(attempt: AttemptRow) -> int:
    order = list(PRIORITY.values()).index(attempt.priority)
    return -(order * _STEPS + math.floor((attempt.turn_at - _EPOCH) / _STEP))


async def _without_job(session: AsyncSession) -> list[AttemptRow]:
    has_none = text(
        "NOT EXISTS (SELECT FROM procrastinate_jobs AS job WHERE job.queueing_lock = attempts.id "
        "AND job.status IN ('todo', 'doing'))"
    )
    return list(await session.scalars(select(AttemptRow).where(AttemptRow.status == "queued", has_none)))
