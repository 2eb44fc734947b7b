"""The processes of the service: each keeps a row, which announces it to every server, and deletes the row when it ends.

Those that grade are workers, be it `meshgrade worker` or a server. A server that grades nothing has 0 slots. Writing
the row also shows whether the database can be written. A process that died leaves its row behind, which is shown as
gone for an hour, unless something was started since, and then deleted.
"""

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Interval, delete, func, literal, select, type_coerce
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.background_loop import Loop
from app.core.clock import now
from app.core.database import UNAVAILABLE, Database, UTCDateTime, insert_into, why_not_written
from app.core.ids import new_id
from app.core.version import VERSION
from app.grading.queue.grading_tries import GradingProcess
from app.grading.queue.models import WorkerRow
from app.grading.queue.preparation import Preparation
from app.grading.queue.server_code import OtherCode, code_of_server
from app.grading.queue.walls import Walls

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats

log = logging.getLogger(__name__)

BEAT_S = 5.0
# Four beats: a machine that is busy may miss some.
LIVE_S = 20.0
_SHOWN_FOR = timedelta(hours=1)
_READ_AGAIN_S = 1.0
_LEAVE_S = 2.0
# `lab-2:4711` of a process, `worker-7d9c8f6b5d-x2k4f` of a pod, `worker-7d9c8f6b5d-x2k4f:1` of a process in a pod.
_IDS = re.compile(r"(-[a-z0-9]{6,10}-[a-z0-9]{5})?(:\d+)?$")
# For people who wait. app/core/static/grading.js has the same text.
NO_WORKER = "No worker is connected. Grading starts when one connects."


@dataclass(frozen=True, slots=True)
class WorkerWall:
    """One wall of a worker. `found` and `remedy` are empty while it is up."""

    name: str
    up: bool
    found: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class WorkerSetback:
    """Something that a worker tries again: `what` is `reference` or `warm_up`."""

    what: str
    name: str
    failures: int
    why: str


@dataclass(frozen=True, slots=True)
class WorkerWarning:
    """Something else that a process found wrong, and what to do about it."""

    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Worker:
    """A process of the service. Without `slots`, it is a server that grades nothing.

    `clock_offset_s` is by how much its clock is ahead of the database's. `seen_s` is how long ago it wrote its row, and
    `started_s` how long ago it started.
    `code` is its grader (grader/core/code_digest.py). It `is_outdated` if the server runs another one, so it takes
    nothing.
    """

    name: str
    version: str
    slots: int
    walls: tuple[WorkerWall, ...]
    setbacks: tuple[WorkerSetback, ...]
    warnings: tuple[WorkerWarning, ...]
    clock_offset_s: float
    seen_s: float
    started_s: float
    code: str
    is_outdated: bool

    @property
    def is_live(self) -> bool:
        return self.seen_s < LIVE_S

    @property
    def missing(self) -> tuple[WorkerWall, ...]:
        return tuple(each for each in self.walls if not each.up)

    @property
    def can_grade(self) -> bool:
        """Until its walls have been tested, they count as up."""
        return self.is_live and self.slots > 0 and not self.missing and not self.is_outdated


@dataclass(slots=True)
class OwnWorker:
    """What this process reports of itself. `now` reads only memory.

    `pool_stats` is None without a pool, and `preparation` if it prepares nothing. `is_first` is false if another API
    process has started this one.
    """

    by: GradingProcess
    slots: int
    walls: Walls
    pool_stats: "Callable[[], PoolStats] | None" = None
    preparation: "Callable[[], Preparation] | None" = None
    warnings: Callable[[], tuple[WorkerWarning, ...]] = tuple
    clock_offset_s: float = 0.0
    begun: float = field(default_factory=time.monotonic)
    is_first: bool = True

    def now(self) -> Worker:
        missing = [WorkerWall(each["wall"], False, each["found"], each["remedy"]) for each in self.walls.missing]
        up = [WorkerWall(name, True) for name, is_up in self.walls.states.items() if is_up]
        found = [("reference", each) for each in (self.preparation().setbacks if self.preparation else ())]
        found += [("warm_up", each) for each in (self.pool_stats().setbacks if self.pool_stats else ())]
        return Worker(
            name=self.by.name,
            version=VERSION,
            slots=self.slots,
            walls=(*missing, *up),
            setbacks=tuple(WorkerSetback(what, each.name, each.failures, each.why) for what, each in found),
            warnings=self.warnings(),
            clock_offset_s=self.clock_offset_s,
            seen_s=0.0,
            started_s=time.monotonic() - self.begun,
            code=self.by.code,
            is_outdated=self.slots > 0 and self.walls.is_outdated,
        )


class Workers:
    """Belongs to one event loop. Safe to share between requests.

    Life cycle of the row: `join`, then its `loop` until `leave`.

    Args:
      own: None for a command that only reads.
    """

    def __init__(self, database: Database, own: OwnWorker | None = None) -> None:
        self.loop = Loop("writing the row of this process", self.beat, pause_s=BEAT_S)
        self._database = database
        self._own = own
        self._id = new_id()
        self._others: list[Worker] = []
        self._read_at = float("-inf")
        self._writing = asyncio.Lock()
        # Why the row could not be written; None if it could.
        self.write_fault: str | None = None

    @property
    def own(self) -> Worker | None:
        """This process, as it is now."""
        return self._own.now() if self._own else None

    async def all(self) -> list[Worker]:
        """Live ones first. Those that are gone and were replaced are not listed."""
        return self._listed(await self._read())

    async def known(self) -> list[Worker]:
        """As `all`, but the database is asked at most once per second, however many requests there are."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._read_at >= _READ_AGAIN_S:
            self._others = await self._read()
            self._read_at = loop.time()
        return self._listed(self._others)

    async def connected(self) -> int:
        """How many can grade."""
        return sum(each.can_grade for each in await self.known())

    async def _read(self) -> list[Worker]:
        async with self._database.reading() as session:
            moment = await database_time(session)
            shown = WorkerRow.seen_at > moment - _SHOWN_FOR, WorkerRow.id != self._id
            code = await code_of_server(session)
            return [_worker(row, moment, code) for row in await session.scalars(select(WorkerRow).where(*shown))]

    def _listed(self, others: list[Worker]) -> list[Worker]:
        found = [*others, self.own] if self.own else others
        live = [each for each in found if each.is_live]
        found = [*live, *_not_replaced([each for each in found if not each.is_live], live)]
        return sorted(found, key=lambda each: (not each.is_live, each.name))

    async def notice(self) -> str:
        """What to tell someone whose work waits: `NO_WORKER`, or nothing."""
        return "" if await self.connected() else NO_WORKER

    async def join(self) -> None:
        """Write the first row. On SQLite, whatever had one when the first process starts has died: two servers cannot
        use one file."""
        if not self._database.shared and self._own is not None and self._own.is_first:
            async with self._database.writing() as session:
                await session.execute(delete(WorkerRow))
        await self.beat()

    async def beat(self) -> None:
        """Write the row now, and delete those of processes that died more than an hour ago."""
        async with self._writing:
            if self._own is None:
                return
            try:
                await self._write(self._own)
            except SQLAlchemyError as error:
                self.write_fault = why_not_written(error)
                raise
            self.write_fault = None

    async def _write(self, own: OwnWorker) -> None:
        async with self._database.writing() as session:
            before = now()
            moment = await database_time(session)
            # The database read its clock somewhere between these two readings of ours.
            own.clock_offset_s = (before + (now() - before) / 2 - moment).total_seconds()
            of_server = await code_of_server(session)
            is_same = of_server in (None, own.by.code)
            own.walls.note_other_code(None if is_same else OtherCode(own.by.code, str(of_server)))
            worker = own.now()
            values = {
                "name": worker.name,
                "version": worker.version,
                "code": worker.code,
                "slots": worker.slots,
                "can_grade": worker.can_grade,
                "walls": [asdict(each) for each in worker.walls],
                "setbacks": [asdict(each) for each in worker.setbacks],
                "warnings": [asdict(each) for each in worker.warnings],
                "clock_offset_s": worker.clock_offset_s,
                "seen_at": moment,
            }
            await session.execute(
                insert_into(session, WorkerRow)
                .values(id=self._id, started_at=moment, **values)
                .on_conflict_do_update(index_elements=[WorkerRow.id], set_=values)
            )
            await session.execute(delete(WorkerRow).where(WorkerRow.seen_at < moment - _SHOWN_FOR))

    async def leave(self) -> None:
        """This process leases nothing more. If its row cannot be deleted, it is soon too old to count."""
        self._own = None
        with contextlib.suppress(TimeoutError, *UNAVAILABLE):
            async with asyncio.timeout(_LEAVE_S), self._writing, self._database.writing() as session:
                await session.execute(delete(WorkerRow).where(WorkerRow.id == self._id))


async def count_connected(session: AsyncSession) -> int:
    """How many processes can grade at the moment."""
    is_counted = [WorkerRow.can_grade, WorkerRow.seen_at > _clock(session, timedelta(seconds=LIVE_S))]
    if (code := await code_of_server(session)) is not None:
        is_counted.append(WorkerRow.code == code)
    return await session.scalar(select(func.count()).where(*is_counted)) or 0


def _not_replaced(gone: list[Worker], live: list[Worker]) -> list[Worker]:
    """Those for which nothing was started since in the same place. A process with the same name has replaced them all.

    A name usually ends with the id of a process or of a pod, so a process that is started again has another one.
    """
    names, left = {each.name for each in live}, []
    spare = sorted(live, key=lambda each: -each.started_s)
    for each in sorted((each for each in gone if each.name not in names), key=lambda each: -each.seen_s):
        since = (new for new in spare if new.started_s < each.seen_s and _place(new) == _place(each))
        if replacement := next(since, None):
            spare.remove(replacement)
        else:
            left.append(each)
    return left


def _place(worker: Worker) -> tuple[str, bool]:
    """Its machine or its deployment, by the name without those ids, and whether it grades."""
    return _IDS.sub("", worker.name), worker.slots > 0


async def try_to_write(database: Database) -> None:
    """Write a row and delete it again in one transaction, which nobody else sees.

    Raises:
      SQLAlchemyError: the database cannot be written. `why_not_written` says why.
    """
    nothing: list[dict[str, object]] = []
    values = {"name": "", "version": VERSION, "slots": 0, "can_grade": False, "clock_offset_s": 0.0}
    lists = {"walls": nothing, "setbacks": nothing, "warnings": nothing}
    async with database.writing() as session:
        moment, row_id = await database_time(session), new_id()
        session.add(WorkerRow(id=row_id, started_at=moment, seen_at=moment, **values, **lists))
        await session.flush()
        await session.execute(delete(WorkerRow).where(WorkerRow.id == row_id))


async def database_time(session: AsyncSession) -> datetime:
    """The time by the clock that all processes share: the database's, or on SQLite this machine's."""
    return (await session.execute(select(_clock(session)))).scalar_one()


def _clock(session: AsyncSession, ago: timedelta = timedelta()) -> ColumnElement[datetime]:
    if session.get_bind().dialect.name != "postgresql":
        return literal(now() - ago, UTCDateTime)
    return type_coerce(func.clock_timestamp() - literal(ago, Interval), UTCDateTime)


def _worker(row: WorkerRow, moment: datetime, code_of_server: str | None) -> Worker:
    return Worker(
        name=row.name,
        version=row.version,
        slots=row.slots,
        walls=tuple(WorkerWall(**each) for each in row.walls),
        setbacks=tuple(WorkerSetback(**each) for each in row.setbacks),
        warnings=tuple(WorkerWarning(**each) for each in row.warnings),
        clock_offset_s=row.clock_offset_s,
        seen_s=max(0.0, (moment - row.seen_at).total_seconds()),
        started_s=max(0.0, (moment - row.started_at).total_seconds()),
        code=row.code,
        is_outdated=row.slots > 0 and code_of_server not in (None, row.code),
    )
