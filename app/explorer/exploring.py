"""Runs explorations with the judge. Each process that grades runs one at a time, and none while a submission waits."""

import asyncio
import contextlib
import logging
import threading
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, select

from app.clock import now
from app.database import Database
from app.errors import PackageNotStored
from app.explorer.models import ExplorationRow
from app.lease import FREE, is_free, lock, take, while_leased, write
from app.queue.models import AttemptRow
from app.queue.protocol import Grader, PackageSource
from app.queue.threads import GradingThreads
from app.queue.walls import Walls
from grader.context import Context
from grader.errors import Cancelled, SubmissionFault, WallMissing
from grader.explore import Explored, ExploredFault, explored, fault_of
from grader.package.package import Package
from grader.program.measured import Measured

log = logging.getLogger(__name__)
_LOOK_S = 2.0
_TRY_AGAIN_S = 1.0
_FAILED = "The grader failed. Nothing is wrong with your source. Explore it again."


@dataclass(frozen=True, slots=True)
class _Leased:
    """A row that this process has leased."""

    id: str
    version: str
    source: str
    against: str | None
    fence_token: str
    tries: int


class Explorer:
    """`run` explores what was requested until it is cancelled. It then returns a running one to the queue.

    Args:
      news: set when this process receives a request for one.
      max_deaths: an exploration is given up after this many processes died during it.
    """

    def __init__(
        self,
        database: Database,
        news: asyncio.Event,
        grader: Grader,
        packages: PackageSource,
        walls: Walls,
        *,
        lease_s: float,
        max_deaths: int,
    ) -> None:
        self._database = database
        self._news = news
        self._grader = grader
        self._packages = packages
        self._walls = walls
        self._life = timedelta(seconds=lease_s)
        self._max_deaths = max_deaths
        self._threads = GradingThreads(1)

    async def run(self) -> None:
        while True:
            self._news.clear()
            try:
                leased = await self._take() if self._walls.are_up and await self._are_due() else None
                if leased is not None:
                    await self._explore(leased)
                    continue
            except Exception:  # a database that is down for a while must not end this; the row's lease expires
                log.exception("an exploration was interrupted; trying again in a second")
                await asyncio.sleep(_TRY_AGAIN_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), _LOOK_S)

    async def _are_due(self) -> bool:
        # Read first, so that an idle process never takes the write lock.
        async with self._database.reading() as session:
            return await session.scalar(select(ExplorationRow.id).where(_due()).limit(1)) is not None

    async def _take(self) -> _Leased | None:
        row = ExplorationRow
        query = select(row).where(_due()).order_by(row.created_at, row.id).limit(1)
        async with self._database.writing() as session:
            rows = await lock(session, query)
            if not rows:
                return None
            found = rows[0]
            found.status, found.tries = "running", found.tries + 1
            token = take(found, self._life)
            return _Leased(found.id, found.version, found.source, found.against, token, found.tries)

    async def _explore(self, leased: _Leased) -> None:
        stop = threading.Event()
        again = {"status": "queued", **FREE, "tries": leased.tries - 1}
        try:
            result = await self._result_of(leased, stop)
            if result is not None:
                values = {"result": result.model_dump(mode="json"), "finished_at": now()}
                await self._write(leased, status="finished", **FREE, **values)
        except WallMissing as missing:
            self._walls.record(missing)
            await self._write(leased, **again)
        except asyncio.CancelledError:
            await self._write(leased, **again)
            raise
        finally:
            stop.set()

    async def _result_of(self, leased: _Leased, stop: threading.Event) -> Explored | None:
        """None if the lease was lost in the meantime, because the row was deleted or another process has it."""
        if leased.tries > self._max_deaths:
            return _failed(f"The grader died {leased.tries - 1} times while it compiled this source.")
        try:
            package = await self._packages.get(leased.version)
        except PackageNotStored as error:
            return _failed(f"This version of the problem cannot be read: {error}.")
        call = partial(_explored, self._grader, package, leased, Context(stop=stop))
        return await while_leased(self._threads.run(call), lambda: self._write(leased), self._life)

    async def _write(self, leased: _Leased, **values: Any) -> bool:
        """Store the values and extend the lease. `False` if it was lost."""
        async with self._database.writing() as session:
            longer = {"lease_until": now() + self._life}
            return await write(session, ExplorationRow, leased.id, leased.fence_token, **(longer | values))


def _due() -> ColumnElement[bool]:
    is_waiting = ExplorationRow.status.in_(("queued", "running"))
    return and_(is_waiting, is_free(ExplorationRow), ~exists().where(AttemptRow.status == "queued"))


def _explored(grader: Grader, package: Package, leased: _Leased, context: Context) -> Explored:
    programs: list[tuple[Measured, ...]] = []
    try:
        programs.append(grader.inspect(package, leased.source, context))
        if leased.against is not None:
            programs.append(grader.inspect(package, leased.against, context))
        return explored(*programs)
    except SubmissionFault as fault:
        return fault_of(fault, "against" if programs else "source")
    except (Cancelled, WallMissing):
        raise
    except Exception:  # fail closed: whatever it is, there is no result, and operators read why
        log.exception("an exploration failed")
        return _failed(_FAILED)


def _failed(message: str) -> Explored:
    return Explored(fault=ExploredFault(of="source", reason=None, message=message, line=None))
