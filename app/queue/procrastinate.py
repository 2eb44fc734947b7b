"""The queue for several machines: Procrastinate delivers jobs through PostgreSQL, the attempts table has their state.

A job contains only the id of an attempt, and is ordered by the attempt's priority and turn. A worker that receives one
leases the attempt, so the same code keeps the same promises as in the embedded queue. Procrastinate retries a job whose
try failed. A sweep, which every grading process makes, restarts the jobs of dead workers, and gives a job to each
attempt that has none (after a restore from a backup).
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
# How late a job with a due time may start: Procrastinate wakes workers only for new jobs.
_POLL_S = 1.0
_STARTED_AGAIN_S = 1.0
# Procrastinate orders by one 32-bit number, the highest first. One step is ten seconds of turn, so each priority has
# room for thirty years.
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_STEP = timedelta(seconds=10)
_STEPS = 100_000_000
# Any number, as long as all processes use the same one. One process sweeps at a time.
_SWEEP_LOCK = 0x7377656570


class TryAgain(Exception):
    """A job must run again at this moment."""

    def __init__(self, moment: datetime) -> None:
        super().__init__(f"again at {moment}")
        self.moment = moment


class _Retry(BaseRetryStrategy):
    """Retries forever: the attempt's row counts its tries, and the job ends with its attempt."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        moment = exception.moment if isinstance(exception, TryAgain) else now() + timedelta(seconds=_POLL_S)
        return RetryDecision(retry_at=moment)


class ProcrastinateQueue:
    """A `GradeQueue`. Belongs to one event loop. Any number of processes may use one database.

    Args:
      grader: None if this process only queues attempts and others grade them.
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
        # After a probe of the walls, and at the end.
        self._news = asyncio.Event()

    async def enqueue(self, session: AsyncSession, attempt: AttemptRow) -> None:
        await line_up(session, attempt)
        await self._defer(session, attempt)

    async def cancel(self, attempt_id: str) -> bool:
        async with self._database.writing() as session:
            cancelled = await cancel_row(session, attempt_id)
            # Not with Procrastinate's own cancel, which would not be part of this transaction. A worker that grades the
            # attempt receives the change and ends its job.
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
            except Exception:  # a database that is down at the start must not keep this process from grading for good
                log.exception("the queue could not be started; trying again in a second")
                await self._pause(_STARTED_AGAIN_S)

    async def _work(self) -> None:
        async with self._app.open_async():
            # The first slot takes no rejudges, so that a batch of them does not make anyone wait.
            work = [self._supervise([_GRADE] if self._limits.slots > 1 else [_GRADE, _REJUDGE], 1)]
            if self._limits.slots > 1:
                work.append(self._supervise([_GRADE, _REJUDGE], self._limits.slots - 1))
            self._tasks = [asyncio.create_task(each) for each in (*work, self._sweep_regularly(), self._probe_walls())]
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def stop(self, *, grace_s: float = 0.0) -> None:
        self._stopping.set()
        self._news.set()
        if self._gradings is None:
            return
        # From now on, each takes no further job and ends with its last one.
        self._stop_workers()
        await self._gradings.stop(grace_s=grace_s)
        if self._tasks:
            # A worker that still waits for a judge that does not stop dies with the process.
            await asyncio.wait(self._tasks, timeout=_STARTED_AGAIN_S)
        for task in self._tasks:
            task.cancel()

    async def _defer(self, session: AsyncSession, attempt: AttemptRow) -> None:
        """Add a job in the session's transaction, through its raw connection."""
        raw = await (await session.connection()).get_raw_connection()
        await self._task.configure(
            connection=raw.driver_connection,
            queue=_REJUDGE if attempt.priority == PRIORITY["rejudge"] else _GRADE,
            priority=_place_in_line(attempt),
            # At most one waiting job per attempt. The sweep also finds it by this.
            queueing_lock=attempt.id,
        ).defer_async(attempt_id=attempt.id)

    async def _run_job(self, *, attempt_id: str) -> None:
        assert self._gradings is not None
        if not self._walls.are_up:
            raise TryAgain(now() + timedelta(seconds=_POLL_S))
        lease = await self._leases.take_one(attempt_id)
        again = await self._gradings.grade(lease) if isinstance(lease, Lease) else lease
        if not self._walls.are_up:
            self._stop_workers()
        if again is not None:
            raise TryAgain(again)

    def _stop_workers(self) -> None:
        for worker in self._workers:
            worker.cancel()

    async def _supervise(self, queues: list[str], concurrency: int) -> None:
        """Keep a Procrastinate worker running: it ends by itself if the database goes down or has forgotten it."""
        while not self._stopping.is_set():
            self._news.clear()
            if not self._walls.are_up:
                await self._news.wait()
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
                log.error("a worker ended; starting it again: %s", error)
            await self._pause(_STARTED_AGAIN_S)

    async def _run_worker(self, queues: list[str], concurrency: int) -> None:
        await self._app.run_worker_async(
            queues=queues,
            concurrency=concurrency,
            fetch_job_polling_interval=_POLL_S,
            update_heartbeat_interval=self._limits.lease_s / 3,
            stalled_worker_timeout=self._limits.lease_s,
            # The attempts table is the record. A table of ended jobs would only grow.
            delete_jobs="always",
            install_signal_handlers=False,
        )

    async def _probe_walls(self) -> None:
        while not self._stopping.is_set():
            if not self._walls.are_up:
                await asyncio.to_thread(self._walls.probe)
            self._news.set()
            await self._pause(_WALLS_AGAIN_S)

    async def _sweep_regularly(self) -> None:
        while not self._stopping.is_set():
            try:
                await self._sweep()
            except Exception:  # the database may be down for a while; the next sweep finds the same work
                log.exception("looking after the queue failed; trying again")
            await self._pause(self._limits.lease_s / 3)

    async def _sweep(self) -> None:
        """Queue the attempts of dead workers again, and give a job to each attempt that has none."""
        async with self._database.writing() as session:
            if not await session.scalar(select(func.pg_try_advisory_xact_lock(_SWEEP_LOCK))):
                return
            rescued = await self._leases.rescue_in(session, max_deaths=self._limits.max_deaths, everything=False)
            if rescued:
                log.warning("attempts queued again because their worker died: %d", rescued)
            for job in await self._stalled():
                assert job.id is not None
                await self._app.job_manager.retry_job_by_id_async(job.id, retry_at=now())
            for attempt in await _without_job(session):
                await self._defer(session, attempt)

    async def _stalled(self) -> Iterable[Job]:
        # By heartbeat, which stops if a worker dies or is paused. Not by a periodic task with a lock, as many examples
        # do: the worker that died still has that lock.
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
