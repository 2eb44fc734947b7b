"""Work for the judge other than submissions: validations of versions, explorations, and runs of lessons' programs.

Each kind of job is a table, in which its status is `queued`, `running` or `finished`. Jobs wait in the same queue as
submissions (app/grading/queue/fair_share.py), and app/grading/queue/slots.py takes them.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.database import UNAVAILABLE, Database
from app.core.lease import FREE, is_free, lock, not_held, take, until, while_leased, write
from app.grading.queue.events import Change, WorkEvents
from app.grading.queue.models import WorkRow
from app.grading.queue.protocol import QueueLimits
from app.grading.queue.threads import GradingThreads
from app.grading.queue.walls import Walls
from grader.core.context import Context
from grader.core.errors import Cancelled, WallMissing

log = logging.getLogger(__name__)


R = TypeVar("R", bound=WorkRow)
T = TypeVar("T")


class Job(Generic[R]):
    """A job that this process has leased. `row` is the row as it was then."""

    def __init__(
        self,
        row: R,
        token: str,
        database: Database,
        threads: GradingThreads,
        events: WorkEvents,
        limits: QueueLimits,
    ) -> None:
        self.row = row
        self.token = token
        self.phase = ""
        self._database = database
        self._threads = threads
        self._events = events
        self._loop = asyncio.get_running_loop()
        self._max_deaths = limits.max_deaths
        self._life = timedelta(seconds=limits.lease_s)
        self._stop = threading.Event()
        self._has_part = self._is_ending = False
        self._storing: set[asyncio.Task[None]] = set()

    @property
    def context(self) -> Context:
        """For calls of the judge, which end when the job does, and whose phases are passed on."""
        return Context(stop=self._stop, progress=self._report)

    @property
    def deaths(self) -> int:
        """How many processes died during the job."""
        return self.row.tries - 1

    @property
    def is_given_up(self) -> bool:
        """Whether the job is given up because too many processes died during it."""
        return self.deaths >= self._max_deaths

    def begin(self) -> None:
        self._events.send(self.row.id, Change("running", None))

    def end(self) -> None:
        self._is_ending = True
        self._stop.set()

    def _report(self, phase: str) -> None:
        # The judge calls this in its thread. If the service ended first, the loop is closed, and nobody needs it.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._take_phase, phase)

    def _take_phase(self, phase: str) -> None:
        if phase != self.phase and not self._stop.is_set():
            self.phase = phase
            self._events.send(self.row.id, Change("running", phase, self._has_part))

    def store_part(self, **values: Any) -> None:
        """Store a part of the result of the running job, and notify everyone who waits. Any thread may call it."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._begin_part, values)

    def _begin_part(self, values: dict[str, Any]) -> None:
        task = self._loop.create_task(self._store_part(values))
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)

    async def _store_part(self, values: dict[str, Any]) -> None:
        try:
            # Once the result is stored, the lease has ended, so that this changes nothing.
            is_stored = not self._is_ending and await self.write(**values)
        except UNAVAILABLE:
            log.warning("a part of a result of the table %s was not stored", type(self.row).__name__, exc_info=True)
            return
        if is_stored and not self._is_ending:
            self._has_part = True
            self._events.send(self.row.id, Change("running", self.phase, partial=True))

    async def call(
        self,
        function: Callable[[], T],
        failed: Callable[[Exception], T],
        so_far: Callable[[], dict[str, Any]] = lambda: {},
    ) -> T | None:
        """Call `function` in a thread for grading, and store the values of `so_far` now and then. Returns None if the
        lease was lost, because the row was deleted or another process has it.

        Args:
          failed: the result if the function raises an unexpected error, which operators find in the log.
        """

        def guarded() -> T:
            try:
                return function()
            except (Cancelled, WallMissing):
                raise
            except Exception as error:  # fail closed: an unexpected error proves nothing
                log.exception("a job of the table %s failed", type(self.row).__name__)
                return failed(error)

        return await while_leased(self._threads.run(guarded), lambda: self.write(**so_far()), self._life)

    async def write(self, **values: Any) -> bool:
        """Store the values and extend the lease. `False` if it was lost."""
        async with self._database.writing() as session:
            longer = {"lease_until": until(self._life)}
            return await write(session, type(self.row), self.row.id, self.token, **(longer | values))

    async def finish(self, **values: Any) -> None:
        """Store the result, and notify everyone who waits for it."""
        self._is_ending = True
        if await self.write(status="finished", **FREE, finished_at=now(), **values):
            self._events.send(self.row.id, Change("finished", None))

    async def put_back(self) -> None:
        """Return the job to the queue as if it had not been started."""
        self._is_ending = True
        if await self.write(status="queued", **FREE, tries=self.deaths):
            self._events.send(self.row.id, Change("queued", None))


class Jobs(Generic[R]):
    """One kind of jobs, and what does them.

    Args:
      do: does a job. It must be idempotent, because a job that was interrupted starts again.
      only_if: conditions on the rows that are of this kind.
      is_long: a job can take minutes, so it never occupies a slot for work that someone is watching.
    """

    def __init__(
        self,
        rows: type[R],
        do: Callable[[Job[R]], Awaitable[None]],
        *,
        only_if: Sequence[ColumnElement[bool]] = (),
        is_long: bool = False,
    ) -> None:
        self.rows = rows
        self.only_if = only_if
        self.is_long = is_long
        self._work = do

    def lease(
        self, row: R, database: Database, threads: GradingThreads, events: WorkEvents, limits: QueueLimits
    ) -> Job[R]:
        """Lease a queued row that this transaction has locked. The judge is called in one of the `threads`."""
        row.status, row.tries = "running", row.tries + 1
        return Job(row, take(row, timedelta(seconds=limits.lease_s)), database, threads, events, limits)

    async def rescue(self, session: AsyncSession, *, everything: bool, own: Collection[str] = ()) -> int:
        """As `Leases.rescue`."""
        dead = [self.rows.status == "running", *self.only_if]
        if not everything:
            dead += [is_free(self.rows), not_held(self.rows, own)]
        rows = await lock(session, select(self.rows).where(*dead))
        for row in rows:
            row.status, row.fence_token, row.lease_until = "queued", None, None
        return len(rows)

    async def do(self, job: Job[R], walls: Walls) -> None:
        """Do the job. If this is cancelled, or a wall is missing, it returns to the queue."""
        job.begin()
        try:
            await self._work(job)
        except WallMissing as missing:
            walls.record(missing)
            await job.put_back()
        except asyncio.CancelledError:
            await job.put_back()
            raise
        except Cancelled:
            # Its row was deleted, so there is nothing to store.
            log.info("a job of the table %s was stopped", self.rows.__name__)
        except Exception:  # a database that is down for a while must not end a slot; the row's lease expires
            log.exception("a job of the table %s was interrupted", self.rows.__name__)
        finally:
            job.end()
