"""The queue of one machine: the attempts table, threads of this process, and no other server."""

import asyncio
import contextlib
import logging
import threading
from dataclasses import dataclass
from datetime import timedelta

import structlog
from sqlalchemy import event, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.attempts.models import AttemptRow
from app.clock import now
from app.database import Database
from app.errors import ProblemNotFound
from app.queue.events import AttemptEvents, Change
from app.queue.leases import Lease, Leases, failed_verdict
from app.queue.protocol import Grader, PackageSource, QueueStats
from app.queue.threads import GradingThreads
from app.queue.walls import Walls
from grader.errors import Cancelled, WallMissing
from grader.package.package import Package
from grader.verdict import Verdict

log = logging.getLogger(__name__)

PRIORITY = {"run": 0, "attempt": 10}
_STOP_GRACE_S = 2.0
_STORE_EVERY_S = 0.5
_WALLS_AGAIN_S = 15.0


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """`sole`: no other process works on this database, so every row found running at the start is a dead one's."""

    slots: int
    lease_s: float
    max_tries: int
    sole: bool


class EmbeddedQueue:
    """A `GradeQueue`. Belongs to one event loop; only the judge runs in threads."""

    def __init__(
        self,
        database: Database,
        grader: Grader,
        packages: PackageSource,
        walls: Walls,
        events: AttemptEvents,
        limits: QueueLimits,
    ) -> None:
        self._database = database
        self._grader = grader
        self._packages = packages
        self._walls = walls
        self._events = events
        self._limits = limits
        self._leases = Leases(database, limits.lease_s)
        self._threads = GradingThreads(limits.slots)
        self._held: dict[str, tuple[Lease, threading.Event]] = {}
        self._news = asyncio.Event()
        self._stopping = False
        self._workers: list[asyncio.Task[None]] = []

    async def enqueue(self, session: AsyncSession, attempt: AttemptRow) -> None:
        attempt.status, attempt.priority, attempt.tries = "queued", PRIORITY[attempt.kind], 0
        session.add(attempt)
        # After the commit: a worker that is woken before would look and find nothing.
        event.listen(session.sync_session, "after_commit", lambda _: self._news.set(), once=True)

    async def cancel(self, attempt_id: str) -> bool:
        async with self._database.writing() as session:
            row = await session.get(AttemptRow, attempt_id, with_for_update=True)
            if row is None or row.status not in ("queued", "running"):
                return False
            row.status, row.phase, row.finished_at = "cancelled", None, now()
            row.fence_token = row.lease_until = None
        if held := self._held.get(attempt_id):
            held[1].set()
        self._events.publish(attempt_id, Change("cancelled", None))
        return True

    async def work(self) -> None:
        if self._stopping:
            return
        await self._rescue(everything=self._limits.sole)
        self._workers = [asyncio.create_task(self._slot()) for _ in range(self._limits.slots)]
        self._workers.append(asyncio.create_task(self._look_around()))
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def stop(self) -> None:
        self._stopping = True
        self._news.set()
        for _, stop in self._held.values():
            stop.set()
        if self._workers:
            await asyncio.wait(self._workers[:-1], timeout=_STOP_GRACE_S)
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        # Only gradings that did not heed `stop` are left: their rows go back, their late results will be fenced off.
        for lease, _ in list(self._held.values()):
            await self._leases.give_back(lease, None, charged=False)

    async def stats(self) -> QueueStats:
        async with self._database.reading() as session:
            counted = await session.execute(
                select(AttemptRow.status, func.count())
                .where(AttemptRow.status.in_(("queued", "running")))
                .group_by(AttemptRow.status)
            )
            by_status = {status: number for status, number in counted}
        return QueueStats(queued=by_status.get("queued", 0), running=by_status.get("running", 0))

    async def _slot(self) -> None:
        while not self._stopping:
            self._news.clear()
            try:
                lease = await self._leases.take() if self._walls.stand else None
                if lease is None:
                    await self._news.wait()
                    continue
                # Another slot may have slept through the news of a second row while this one took the first.
                self._news.set()
                await self._grade(lease)
            except Exception:  # a slot must outlive a database that is busy; the row's lease runs out and it is rescued
                log.exception("grading stumbled; trying again in a second")
                await asyncio.sleep(1.0)

    async def _look_around(self) -> None:
        """Rescue rows past their lease, wake slots in case another process queued a row, try missing walls again."""
        pause_s = min(self._limits.lease_s / 2, _WALLS_AGAIN_S)
        while not self._stopping:
            try:
                if not self._walls.stand:
                    await asyncio.to_thread(self._walls.probe)
                    self._news.set()
                await asyncio.sleep(pause_s)
                await self._rescue(everything=False)
            except Exception:  # as in a slot
                log.exception("looking after the queue stumbled")
                await asyncio.sleep(1.0)
            self._news.set()

    async def _rescue(self, *, everything: bool) -> None:
        rescued = await self._leases.rescue(max_tries=self._limits.max_tries, everything=everything)
        if rescued:
            log.warning("%d attempts whose worker died were queued again", rescued)

    async def _grade(self, lease: Lease) -> None:
        stop = threading.Event()
        self._held[lease.attempt_id] = (lease, stop)
        self._events.publish(lease.attempt_id, Change("running", "starting"))
        try:
            if self._stopping:
                raise Cancelled("the service is stopping")
            await self._conclude(lease, await self._judge(lease, stop))
        except (Cancelled, WallMissing) as error:
            if isinstance(error, WallMissing):
                log.error("%s", error)
                self._walls.record(error)
            if await self._leases.give_back(lease, None, charged=False):
                self._events.publish(lease.attempt_id, Change("queued", None))
        # Not in `finally`: a slot that `stop` gave up on leaves its row for `stop` to give back.
        except Exception:
            self._held.pop(lease.attempt_id, None)
            raise
        self._held.pop(lease.attempt_id, None)

    async def _judge(self, lease: Lease, stop: threading.Event) -> Verdict:
        try:
            package = self._packages.get(lease.problem)
        except ProblemNotFound:
            return failed_verdict(lease.problem, lease.version, "This problem is no longer served.")
        phases = _Phases(self._events, lease.attempt_id)
        keeper = asyncio.create_task(self._keep(lease, stop, phases))
        try:
            return await self._threads.run(lambda: self._call(package, lease, stop, phases))
        except (Cancelled, WallMissing):
            raise
        except Exception as error:  # fail closed: what the judge did not foresee is ours, and never a pass
            log.exception("the judge raised on attempt %s", lease.attempt_id)
            return failed_verdict(lease.problem, package.version, f"The grader failed: {type(error).__name__}.")
        finally:
            # Not cancelled: its last write must have ended before the result's begins.
            phases.end()
            await keeper

    def _call(self, package: Package, lease: Lease, stop: threading.Event, phases: "_Phases") -> Verdict:
        # Whatever the judge and the sandbox log meanwhile, in this thread, tells of this attempt.
        with structlog.contextvars.bound_contextvars(attempt_id=lease.attempt_id):
            return self._grader.judge(
                package, lease.source, hidden=lease.kind == "attempt", progress=phases.report, stop=stop
            )

    async def _keep(self, lease: Lease, stop: threading.Event, phases: "_Phases") -> None:
        """Extend the lease while the judge works; tell it to stop once the lease is lost."""
        loop = asyncio.get_running_loop()
        stored, due = "starting", loop.time() + self._limits.lease_s / 3
        while True:
            with contextlib.suppress(TimeoutError):
                # Readers are told each phase at once; storing it can wait, and a quick grading stores none.
                await asyncio.wait_for(phases.over.wait(), min(_STORE_EVERY_S, self._limits.lease_s / 3))
            if phases.over.is_set():
                return
            if phases.latest == stored and loop.time() < due:
                continue
            stored, due = phases.latest, loop.time() + self._limits.lease_s / 3
            try:
                kept = await self._leases.extend(lease, stored)
            except Exception:  # a busy database is no reason to drop a grading: the next beat may get through
                log.exception("the lease of attempt %s could not be extended", lease.attempt_id)
                continue
            if not kept:
                stop.set()
                return

    async def _conclude(self, lease: Lease, verdict: Verdict) -> None:
        if verdict.status == "failed":
            log.error("grading attempt %s failed, try %d: %s", lease.attempt_id, lease.tries, verdict.stderr[:500])
        if verdict.status == "failed" and lease.tries < self._limits.max_tries:
            if await self._leases.give_back(lease, "waiting to be tried again", charged=True):
                self._events.publish(lease.attempt_id, Change("queued", "waiting to be tried again"))
            return
        if await self._leases.finish(lease, _with_wait(verdict, lease)):
            self._events.publish(lease.attempt_id, Change("finished", None))


class _Phases:
    """Carries the judge's progress from its thread to the loop; only the newest phase is stored."""

    def __init__(self, events: AttemptEvents, attempt_id: str) -> None:
        self._events = events
        self._attempt_id = attempt_id
        self._loop = asyncio.get_running_loop()
        self.latest = "starting"
        self.over = asyncio.Event()

    def end(self) -> None:
        self.over.set()

    def report(self, phase: str) -> None:
        # The loop is gone when the service ended without this grading: nobody is left to be told.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._take, phase)

    def _take(self, phase: str) -> None:
        if phase != self.latest:
            self.latest = phase
            self._events.publish(self._attempt_id, Change("running", phase))


def _with_wait(verdict: Verdict, lease: Lease) -> Verdict:
    queued_ms = max(0, (lease.started_at - lease.created_at) // timedelta(milliseconds=1))
    timings = verdict.timings_ms
    return verdict.model_copy(
        update={"timings_ms": timings.model_copy(update={"queued": queued_ms, "total": timings.total + queued_ms})}
    )
