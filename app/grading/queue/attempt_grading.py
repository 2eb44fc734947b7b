"""The gradings of one process, from a lease to a stored verdict. Both queues use it."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TypeVar

import structlog

from app.core.clock import now
from app.core.database import UNAVAILABLE, why_not_written
from app.core.errors import PackageNotStored
from app.grading.queue.events import Change, WorkEvents
from app.grading.queue.grading_tries import MOST_PHASES
from app.grading.queue.leases import Lease, Leases, failed_verdict
from app.grading.queue.protocol import Grader, PackageSource, QueueLimits
from app.grading.queue.threads import GradingThreads
from app.grading.queue.walls import Walls
from grader.core.context import Context
from grader.core.errors import Cancelled, WallMissing
from grader.inputs.own_inputs import OwnInputs
from grader.package.package import Package
from grader.package.variants import VariantMissing, of_variant
from grader.verdicts.verdict import Verdict

log = logging.getLogger(__name__)
T = TypeVar("T")

_STOP_GRACE_S = 2.0
_STORE_EVERY_S = 0.5
_DATABASE_GONE_S = 60.0
_DATABASE_AGAIN_S = 0.25


class Gradings:
    """Belongs to one event loop. Only the judge runs in threads, so the loop can extend the leases.

    Life cycle: `grade` for each lease, at most `limits.slots` at a time, until `stop`.
    """

    def __init__(
        self,
        leases: Leases,
        grader: Grader,
        packages: PackageSource,
        walls: Walls,
        events: WorkEvents,
        limits: QueueLimits,
    ) -> None:
        self._leases = leases
        self._grader = grader
        self._packages = packages
        self._walls = walls
        self._events = events
        self._limits = limits
        self._threads = GradingThreads(limits.slots)
        self._leased: dict[str, tuple[Lease, threading.Event]] = {}
        self._phases: dict[str, _Phases] = {}
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopping = False
        events.watch(self._on_change)

    async def grade(self, lease: Lease) -> datetime | None:
        """Judge and store. Returns when to try the attempt again; None if it has ended or the lease was lost."""
        stop = threading.Event()
        self._leased[lease.attempt_id] = (lease, stop)
        self._idle.clear()
        self._events.publish(lease.attempt_id, Change("running", "starting"))
        try:
            again = await self._grade(lease, stop)
        # Not in `finally`: if `stop` gave up on a grading, then `stop` returns its row.
        except Exception:
            self._forget(lease)
            raise
        self._forget(lease)
        return again

    async def stop(self, *, grace_s: float) -> None:
        """Let gradings finish for `grace_s`, then stop them and return their rows. Do not call `grade` after this."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), grace_s)
        self._stopping = True
        for _, stop in self._leased.values():
            stop.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), _STOP_GRACE_S)
        # Only gradings that did not stop are left. Their rows return to the queue, and late results are fenced off.
        for lease, _ in list(self._leased.values()):
            await self._leases.give_back(lease)

    @property
    def tokens(self) -> list[str]:
        """The fence tokens of what it grades."""
        return [lease.fence_token for lease, _ in self._leased.values()]

    def _seen(self, lease: Lease) -> list[tuple[int, str]]:
        """The phases of this grading so far, each with the milliseconds since it began."""
        phases = self._phases.get(lease.attempt_id)
        return phases.seen if phases else []

    def _forget(self, lease: Lease) -> None:
        self._leased.pop(lease.attempt_id, None)
        self._phases.pop(lease.attempt_id, None)
        if not self._leased:
            self._idle.set()

    def _on_change(self, attempt_id: str, change: Change) -> None:
        if change.status == "cancelled" and (leased := self._leased.get(attempt_id)):
            leased[1].set()

    async def _grade(self, lease: Lease, stop: threading.Event) -> datetime | None:
        try:
            if self._stopping:
                raise Cancelled("the service is stopping")
            verdict = await self._judge(lease, stop)
        except (Cancelled, WallMissing) as error:
            if isinstance(error, WallMissing):
                log.error("%s", error)
                self._walls.record(error)
            if not await _retry(lambda: self._leases.give_back(lease, self._seen(lease))):
                return None
            self._events.publish(lease.attempt_id, Change("queued", None))
            return now()
        return await self._conclude(lease, verdict)

    async def _judge(self, lease: Lease, stop: threading.Event) -> Verdict:
        phases = self._phases[lease.attempt_id] = _Phases(self._events, lease.attempt_id)
        keeper = asyncio.create_task(self._keep(lease, stop, phases))
        try:
            package = of_variant(await _retry(lambda: self._packages.get(lease.version)), lease.variant)
            return await self._threads.run(lambda: self._call(package, lease, stop, phases))
        except (Cancelled, WallMissing):
            raise
        except (PackageNotStored, VariantMissing) as error:
            return failed_verdict(lease.problem, lease.version, f"This version cannot be graded: {error}.")
        except Exception as error:  # fail closed: an unexpected error is the grader's fault, and never a pass
            log.exception("the judge raised on attempt %s", lease.attempt_id)
            return failed_verdict(lease.problem, lease.version, f"The grader failed: {type(error).__name__}.")
        finally:
            # Not cancelled: its last write must have ended before the result's begins.
            phases.end()
            await keeper

    def _call(self, package: Package, lease: Lease, stop: threading.Event, phases: "_Phases") -> Verdict:
        # Everything that the judge and the sandbox log in this thread carries the attempt's id.
        with structlog.contextvars.bound_contextvars(attempt_id=lease.attempt_id):
            return self._grader.judge(
                package,
                lease.source,
                Context(phases.report, stop),
                hidden=lease.kind != "run",
                draw=lease.draw,
                **({"own": OwnInputs(**lease.own_inputs)} if lease.own_inputs else {}),
            )

    async def _keep(self, lease: Lease, stop: threading.Event, phases: "_Phases") -> None:
        """Extend the lease while the judge works, and stop the judge if the lease is lost."""
        loop = asyncio.get_running_loop()
        stored, due = "starting", loop.time() + self._limits.lease_s / 3
        while True:
            with contextlib.suppress(TimeoutError):
                # Readers receive each phase immediately. Storing it can wait, and a quick grading stores none.
                await asyncio.wait_for(phases.over.wait(), min(_STORE_EVERY_S, self._limits.lease_s / 3))
            if phases.over.is_set():
                return
            if phases.latest == stored and loop.time() < due:
                continue
            stored, due = phases.latest, loop.time() + self._limits.lease_s / 3
            try:
                extended = await self._leases.extend(lease, stored)
            except Exception:  # a busy database must not end a grading: the next extension may succeed
                log.exception("the lease of attempt %s could not be extended", lease.attempt_id)
                continue
            if not extended:
                stop.set()
                return

    async def _conclude(self, lease: Lease, verdict: Verdict) -> datetime | None:
        if verdict.status == "failed":
            log.error("grading attempt %s failed, try %d: %s", lease.attempt_id, lease.tries, verdict.stderr[:500])
        if verdict.status == "failed" and lease.tries < self._limits.max_tries:
            again = await _retry(lambda: self._leases.try_later(lease, self._seen(lease), verdict.stderr))
            if again is not None:
                self._events.publish(lease.attempt_id, Change("queued", "waiting for another try"))
            return again
        if await _retry(lambda: self._leases.finish(lease, _with_wait(verdict, lease), self._seen(lease))):
            self._events.publish(lease.attempt_id, Change("finished", None))
        return None


async def _retry(ask: Callable[[], Awaitable[T]]) -> T:
    """Repeat while the database restarts or is locked: a finished grading is worth the wait, and is fenced."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _DATABASE_GONE_S
    while True:
        try:
            return await ask()
        except UNAVAILABLE as error:
            if loop.time() > deadline:
                raise
            log.warning(
                "the database failed (%s); trying again",
                why_not_written(error),
                extra={"database_error": error},
            )
            await asyncio.sleep(_DATABASE_AGAIN_S)


class _Phases:
    """Passes the judge's progress from its thread to the loop. While it grades, only the latest phase is stored."""

    def __init__(self, events: WorkEvents, attempt_id: str) -> None:
        self._events = events
        self._attempt_id = attempt_id
        self._loop = asyncio.get_running_loop()
        self.latest = "starting"
        self.seen = [(0, self.latest)]
        self._began = self._loop.time()
        self.over = asyncio.Event()

    def end(self) -> None:
        self.over.set()

    def report(self, phase: str) -> None:
        # The loop is closed if the service ended without waiting for this grading. Then nobody needs the phase.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._take, phase)

    def _take(self, phase: str) -> None:
        if phase != self.latest:
            self.latest = phase
            # Of very many, the last ones stay: they show where it stopped.
            if len(self.seen) == MOST_PHASES:
                del self.seen[1]
            self.seen.append((round((self._loop.time() - self._began) * 1000), phase))
            self._events.publish(self._attempt_id, Change("running", phase))


def _with_wait(verdict: Verdict, lease: Lease) -> Verdict:
    queued_ms = max(0, (lease.started_at - lease.created_at) // timedelta(milliseconds=1))
    timings = verdict.timings_ms
    return verdict.model_copy(
        update={"timings_ms": timings.model_copy(update={"queued": queued_ms, "total": timings.total + queued_ms})}
    )
