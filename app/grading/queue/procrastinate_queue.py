"""The queue for several machines: Procrastinate wakes their slots through PostgreSQL.

A job of Procrastinate says only that there is work; the tables of work have its state. The slot that receives the job
does the work that is first in line, until there is none, so the same code gives the same guarantees as in the embedded
queue. Procrastinate repeats the job when a failed try is due again. A sweep, which every grading process makes,
restarts the jobs of dead workers, and adds jobs if there is more work than jobs (after a restore from a backup).
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from procrastinate import App, BaseRetryStrategy, PsycopgConnector, RetryDecision
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job
from procrastinate.manager import get_channel_for_queues
from psycopg import OperationalError
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.background_loop import Loop, raise_if_cancelled
from app.core.clock import now
from app.core.database import UNAVAILABLE, Database
from app.grading.queue.events import WorkEvents
from app.grading.queue.fair_share import line_up
from app.grading.queue.models import AttemptRow, WorkRow
from app.grading.queue.protocol import QueueLimits
from app.grading.queue.slots import Slots
from app.grading.queue.table_queue import TableQueue
from app.grading.queue.walls import Walls

log = logging.getLogger(__name__)

# Of the two lines in app/grading/queue/slots.py.
_QUICK, _LONG = "grade", "long"
_WALLS_AGAIN_S = 15.0
# Procrastinate wakes workers only for new jobs. This queue announces those that become due itself, so polling is a last
# resort, which an idle process should not pay for each second.
_POLL_S = 30.0
# These can be longer than a lease. A job of a dead worker is only clutter: its work has a lease, and a sweep adds a
# job for it.
_HEARTBEAT_S, _STALLED_S = 20.0, 60.0
_AGAIN_S = 1.0
# The clocks of this machine and of the database differ a little.
_SURELY_DUE_S = 0.2
_STARTED_AGAIN_S = 1.0
# Any number, as long as all processes use the same one. One process sweeps at a time.
_SWEEP_LOCK = 0x7377656570
_JOBS = text(
    "SELECT count(*) FROM procrastinate_jobs WHERE queue_name = :queue AND status = 'todo' "
    "AND (scheduled_at IS NULL OR scheduled_at <= now())"
)


# By heartbeat, which stops if a worker dies or is paused. Not by a periodic task with a lock, as many examples do: the
# worker that died still has that lock.
_STALLED = text(
    "SELECT job.id FROM procrastinate_jobs job LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id "
    "WHERE job.status = 'doing' AND (worker.id IS NULL "
    "OR worker.last_heartbeat < now() - :seconds * interval '1 second')"
)


class TryAgain(Exception):
    """A job must run again at this moment."""

    def __init__(self, moment: datetime) -> None:
        super().__init__(f"again at {moment}")
        self.moment = moment


class _Retry(BaseRetryStrategy):
    """Retries forever: the rows of the work count their tries."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        moment = exception.moment if isinstance(exception, TryAgain) else now() + timedelta(seconds=_AGAIN_S)
        return RetryDecision(retry_at=moment)


class _Connector(PsycopgConnector):
    """Listens again after the database was down. Otherwise a worker would then hear of nothing, and only poll."""

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        names = list(channels)
        while True:
            try:
                await super().listen_notify(on_notification, names)
            except (ConnectorException, OperationalError) as error:
                raise_if_cancelled()
                log.warning("news of work cannot be received; trying again in %g s: %s", _AGAIN_S, error)
                await asyncio.sleep(_AGAIN_S)


class ProcrastinateQueue(TableQueue):
    """A `GradeQueue`. Belongs to one event loop. Any number of processes may use one database.

    Args:
      slots: None if this process only queues attempts and others grade them.
    """

    def __init__(
        self,
        database: Database,
        slots: Slots | None,
        walls: Walls,
        events: WorkEvents,
        limits: QueueLimits,
    ) -> None:
        super().__init__(database, walls, events, limits)
        self._slots = slots
        self._app = App(connector=_Connector(conninfo=database.conninfo, min_size=1, max_size=limits.slots + 4))
        self._task = self._app.task(name="grade", retry=_Retry())(self._run_job)
        self._workers: set[asyncio.Task[None]] = set()
        self._announcing: set[asyncio.Task[None]] = set()

    async def enqueue(self, session: AsyncSession, work: WorkRow) -> None:
        await line_up(session, work)
        # Which of the two it is depends on conditions of the database, so each has a job. One finds nothing, and ends.
        for queue in (_QUICK,) if isinstance(work, AttemptRow) else (_QUICK, _LONG):
            await self._defer(session, queue)

    async def work(self) -> None:
        while self._slots is not None and not self._stopping.is_set():
            try:
                await self._work()
            except Exception:  # a database that is down at the start must not keep this process from grading for good
                log.exception("the queue could not be started; trying again in a second")
                await self._pause(_STARTED_AGAIN_S)

    async def _work(self) -> None:
        assert self._slots is not None
        async with self._app.open_async():
            work = [self._supervise(_QUICK, self._limits.slots)]
            if self._slots.has_long:
                work.append(self._supervise(_LONG, 1))
            sweeping = Loop("looking for the work of dead workers", self._sweep, self._limits.lease_s / 2)
            await self._take_all(work, sweeping, Loop("probing the walls", self._probe_walls, _WALLS_AGAIN_S))

    async def stop(self, *, grace_s: float = 0.0) -> None:
        self._stopping.set()
        self._news.set()
        if self._slots is None:
            return
        # From now on, each takes no further job and ends with its last one.
        self._stop_workers()
        await self._end(self._slots, grace_s)
        for each in self._announcing:
            each.cancel()

    async def _defer(self, session: AsyncSession, queue: str) -> None:
        """Add a job in the session's transaction, through its raw connection."""
        raw = await (await session.connection()).get_raw_connection()
        await self._task.configure(connection=raw.driver_connection, queue=queue).defer_async(long=queue == _LONG)

    async def _run_job(self, *, long: bool) -> None:
        assert self._slots is not None
        again: datetime | None = None
        while self._walls.may_grade and (taken := await self._slots.take(long=long)) is not None:
            moment = await self._slots.do(taken)
            again = min((each for each in (again, moment) if each is not None), default=None)
        if not self._walls.may_grade:
            self._stop_workers()
            again = now() + timedelta(seconds=_AGAIN_S)
        if again is not None:
            self._announce_at(again, _LONG if long else _QUICK)
            raise TryAgain(again)

    def _announce_at(self, moment: datetime, queue: str) -> None:
        """Wake the workers when a job is due again. If this process has ended by then, a sweep does."""
        due_s = max(0.0, (moment - now()).total_seconds()) + _SURELY_DUE_S

        async def announce() -> None:
            await asyncio.sleep(due_s)
            with contextlib.suppress(*UNAVAILABLE):
                async with self._database.writing() as session:
                    await _announce(session, queue)

        task = asyncio.create_task(announce())
        self._announcing.add(task)
        task.add_done_callback(self._announcing.discard)

    def _stop_workers(self) -> None:
        for worker in self._workers:
            worker.cancel()

    async def _supervise(self, queue: str, concurrency: int) -> None:
        """Keep a Procrastinate worker running: it ends by itself if the database goes down or has forgotten it."""
        while not self._stopping.is_set():
            self._news.clear()
            if not self._walls.may_grade:
                await self._news.wait()
                continue
            worker = asyncio.create_task(self._run_worker(queue, concurrency))
            self._workers.add(worker)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([worker])
            self._workers.discard(worker)
            if not worker.done():
                worker.cancel()
                # Its heartbeat must not use the connections after they are closed.
                await asyncio.wait([worker], timeout=_STARTED_AGAIN_S)
                return
            if not worker.cancelled() and (error := worker.exception()):
                log.error("a worker ended; starting it again: %s", error)
            await self._pause(_STARTED_AGAIN_S)

    async def _run_worker(self, queue: str, concurrency: int) -> None:
        await self._app.run_worker_async(
            queues=[queue],
            concurrency=concurrency,
            fetch_job_polling_interval=_POLL_S,
            update_heartbeat_interval=_HEARTBEAT_S,
            stalled_worker_timeout=_STALLED_S,
            # The tables of work are the record. A table of ended jobs would only grow.
            delete_jobs="always",
            install_signal_handlers=False,
        )

    async def _sweep(self) -> None:
        """Queue the work of dead workers again, and add jobs if there are fewer than there is work."""
        assert self._slots is not None
        async with self._database.writing() as session:
            if not await session.scalar(select(func.pg_try_advisory_xact_lock(_SWEEP_LOCK))):
                return
            rescued = await self._slots.rescue(session)
            if rescued:
                log.warning("work queued again because its worker died: %d", rescued)
            for job_id in await session.scalars(_STALLED, {"seconds": _STALLED_S}):
                await self._app.job_manager.retry_job_by_id_async(job_id, retry_at=now())
            for queue in (_QUICK, _LONG):
                jobs = await session.scalar(_JOBS, {"queue": queue}) or 0
                if jobs:
                    # The process that was to announce it may have ended.
                    await _announce(session, queue)
                for _ in range(await self._slots.due(session, long=queue == _LONG) - jobs):
                    await self._defer(session, queue)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)


async def _announce(session: AsyncSession, queue: str) -> None:
    """Wake every idle worker of the queue, as a new job does, when this transaction is committed."""
    for channel in get_channel_for_queues([queue]):
        await session.execute(select(func.pg_notify(channel, json.dumps({"type": "job_inserted"}))))
