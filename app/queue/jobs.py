"""Other work for the judge than submissions: validations of versions, explorations, and runs of lessons' programs.

Each kind of job is a table. Every process that grades does one job of a kind at a time, the oldest first.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Integer, String, and_, select
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.database import Database, UTCDateTime
from app.lease import FREE, LeasedRow, is_free, lock, take, while_leased, write
from app.queue.threads import GradingThreads
from app.queue.walls import Walls
from grader.context import Context
from grader.errors import WallMissing

log = logging.getLogger(__name__)
_LOOK_S = 2.0
_TRY_AGAIN_S = 1.0


class JobRow(LeasedRow):
    """The columns of a table of jobs. The status of a job is `queued`, `running` or `finished`."""

    status: Mapped[str] = mapped_column(String(16))
    tries: Mapped[int] = mapped_column(Integer())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime())


R = TypeVar("R", bound=JobRow)
T = TypeVar("T")


class Job(Generic[R]):
    """A job that this process has leased. `row` is the row as it was then."""

    def __init__(self, row: R, token: str, database: Database, threads: GradingThreads, life: timedelta) -> None:
        self.row = row
        self._token = token
        self._database = database
        self._threads = threads
        self._life = life
        self._stop = threading.Event()

    @property
    def context(self) -> Context:
        """For calls of the judge, which end when the job does."""
        return Context(stop=self._stop)

    @property
    def deaths(self) -> int:
        """How many processes died during the job."""
        return self.row.tries - 1

    def end(self) -> None:
        self._stop.set()

    async def call(self, function: Callable[[], T], so_far: Callable[[], dict[str, Any]] = lambda: {}) -> T | None:
        """Call `function` in a thread for grading, and store the values of `so_far` now and then. Returns None if the
        lease was lost in the meantime, because the row was deleted or another process has it.
        """
        return await while_leased(self._threads.run(function), lambda: self.write(**so_far()), self._life)

    async def write(self, **values: Any) -> bool:
        """Store the values and extend the lease. `False` if it was lost."""
        async with self._database.writing() as session:
            longer = {"lease_until": now() + self._life}
            return await write(session, type(self.row), self.row.id, self._token, **(longer | values))

    async def finish(self, **values: Any) -> None:
        await self.write(status="finished", **FREE, finished_at=now(), **values)

    async def put_back(self) -> None:
        """Return the job to the queue as if it had not been started."""
        await self.write(status="queued", **FREE, tries=self.deaths)


class Jobs(Generic[R]):
    """The jobs of one table.

    Args:
      threads: where the jobs call the judge.
      news: set when this process receives a request for a job.
      only_if: conditions for a job to start.
      last: jobs of which this is true start after all others.
    """

    def __init__(
        self,
        rows: type[R],
        database: Database,
        threads: GradingThreads,
        news: asyncio.Event,
        walls: Walls,
        *,
        lease_s: float,
        only_if: Sequence[ColumnElement[bool]] = (),
        last: ColumnElement[bool] | None = None,
    ) -> None:
        self._rows = rows
        self._database = database
        self._threads = threads
        self._news = news
        self._walls = walls
        self._life = timedelta(seconds=lease_s)
        self._only_if = only_if
        self._order = (*(() if last is None else (last,)), rows.created_at, rows.id)

    async def run(
        self, work: Callable[[Job[R]], Awaitable[None]], before_each: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Do the jobs until cancelled, while every wall is up. A job that is cancelled returns to the queue.

        `before_each` is also called where there is nothing to do, every two seconds.
        """
        while True:
            self._news.clear()
            try:
                if self._walls.are_up and before_each is not None:
                    await before_each()
                job = await self._take() if self._walls.are_up and await self._are_due() else None
                if job is not None:
                    await self._do(job, work)
                    continue
            except Exception:  # a database that is down for a while must not end this; the row's lease expires
                log.exception("a job of the table %s was interrupted; trying again in a second", self._rows.__name__)
                await asyncio.sleep(_TRY_AGAIN_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), _LOOK_S)

    async def _are_due(self) -> bool:
        # Read first, so that an idle process never takes the write lock.
        async with self._database.reading() as session:
            return await session.scalar(select(self._rows.id).where(self._due()).limit(1)) is not None

    async def _take(self) -> Job[R] | None:
        query = select(self._rows).where(self._due()).order_by(*self._order).limit(1)
        async with self._database.writing() as session:
            found = await lock(session, query)
            if not found:
                return None
            row = found[0]
            row.status, row.tries = "running", row.tries + 1
            return Job(row, take(row, self._life), self._database, self._threads, self._life)

    def _due(self) -> ColumnElement[bool]:
        return and_(self._rows.status.in_(("queued", "running")), is_free(self._rows), *self._only_if)

    async def _do(self, job: Job[R], work: Callable[[Job[R]], Awaitable[None]]) -> None:
        try:
            await work(job)
        except WallMissing as missing:
            self._walls.record(missing)
            await job.put_back()
        except asyncio.CancelledError:
            await job.put_back()
            raise
        finally:
            job.end()
