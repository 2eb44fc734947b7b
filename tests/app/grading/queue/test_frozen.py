"""A worker that freezes in a transaction, at whichever statement, keeps nothing from being graded by others."""

import asyncio
import contextlib
from contextlib import asynccontextmanager

import pytest
from procrastinate.exceptions import ConnectorException
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import event, func, select, text
from sqlalchemy.util import await_only

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import UNAVAILABLE, Database
from app.core.ids import new_id
from app.grading.queue.events import WorkEvents
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.procrastinate_queue import _SWEEP_LOCK, ProcrastinateQueue
from app.grading.queue.protocol import QueueLimits
from app.grading.queue.slots import Slots
from app.grading.queue.status import ENDED
from app.grading.queue.walls import Walls
from app.problems.package_store import PackageStore
from tests.app.conftest import WallState
from tests.app.grading.queue.taking import HERE
from tests.selection import everything

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("postgresql")]
LIMITS = QueueLimits(slots=1, lease_s=1.0, retry_s=0.1, max_tries=3, max_deaths=20)
# So many freeze at a time, because each has four connections.
AT_ONCE = 8
# A run freezes workers in every fourth statement, and `--all` in each one.
STEP = 1 if everything() else 4


class Frozen:
    """From its `number`th statement within a transaction on, nothing of this process moves until it thaws."""

    def __init__(self, database: Database, number: int) -> None:
        self.left = number
        self.is_frozen = False
        self.thaws = asyncio.Event()
        event.listen(database.engine.sync_engine, "before_cursor_execute", self._before)

    def _before(self, connection, cursor, statement, parameters, context, executemany):
        self.left -= 1
        if self.left <= 0:
            self.is_frozen = True
            await_only(self.thaws.wait())


def queue_on(database: Database, package) -> ProcrastinateQueue:
    class Packages:
        async def get(self, version):
            return package

    walls = Walls(lambda: [WallState()])
    walls.probe()
    shared = (walls, WorkEvents(), LIMITS)
    return ProcrastinateQueue(database, Slots(database, NullGrader(), Packages(), *shared, by=HERE), *shared)


@asynccontextmanager
async def worker(url: str, package, freezes_at: int | None = None):
    database = Database(url, idle_in_transaction_s=1.0)
    frozen = Frozen(database, freezes_at) if freezes_at else None
    if frozen:
        _let_jobs_be_lost()
    queue = queue_on(database, package)
    work = asyncio.create_task(queue.work())
    try:
        yield frozen
    finally:
        # It continues, finds that its transaction has ended, and stops in an orderly way.
        if frozen:
            frozen.thaws.set()
        await queue.stop()
        await asyncio.wait_for(work, 60)
        await database.close()


def _let_jobs_be_lost() -> None:
    """Let a worker that continues find its job done or taken by another one, and Procrastinate's task for it end."""
    loop = asyncio.get_running_loop()
    handler = loop.get_exception_handler()
    assert handler

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        if not isinstance(context.get("exception"), ConnectorException):
            handler(loop, context)

    loop.set_exception_handler(handle)


async def hand_in(database: Database, queue: ProcrastinateQueue, package, count: int) -> list[str]:
    ids = [new_id() for _ in range(count)]
    async with database.writing() as session:
        for each in ids:
            row = AttemptRow(id=each, user_id="ada", problem="add_one", version=package.version, kind="attempt")
            row.source, row.created_at = "x", now()
            await queue.enqueue(session, row)
            await session.flush()
    return ids


async def ended(database: Database, ids: list[str]) -> bool:
    async with database.reading() as session:
        query = select(func.count()).where(AttemptRow.id.in_(ids), AttemptRow.status.in_(ENDED))
        return await session.scalar(query) == len(ids)


async def until(holds, timeout_s: float = 120.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not await holds():
            await asyncio.sleep(0.05)


async def test_whichever_statement_workers_freeze_in_others_do_all_of_the_work(shared_url, package, monkeypatch):
    # Procrastinate's own poll would find what a sweep forgot.
    monkeypatch.setattr("app.grading.queue.procrastinate_queue._POLL_S", 3600.0)
    database = Database(shared_url)
    await PackageStore(database).add(package)
    async with database.writing() as session:
        session.add(UserRow(id="ada", name="ada", role="student", created_at=now()))
    queue = queue_on(database, package)
    async with queue._app.open_async():
        first, froze = 1, AT_ONCE
        while froze == AT_ONCE:
            froze = await freeze_some(shared_url, database, queue, package, first)
            first += froze * STEP
    # So many statements has a worker's life from its start to the end of a grading, at least.
    assert first > 30
    await database.close()


async def freeze_some(url, database, queue, package, first) -> int:
    """How many workers froze: one in its `first` statement, and each other one STEP statements later."""
    async with contextlib.AsyncExitStack() as stack:
        frozen = [
            await stack.enter_async_context(worker(url, package, number))
            for number in range(first, first + AT_ONCE * STEP, STEP)
        ]
        ids = await hand_in(database, queue, package, 4 * AT_ONCE)

        async def is_quiet() -> bool:
            return all(each.is_frozen for each in frozen) or await ended(database, ids)

        await until(is_quiet)
        # A transaction ends after a second, a lease after one, and a sweep comes twice in one. Nothing else wakes them.
        async with worker(url, package):
            await until(lambda: ended(database, ids))
        return sum(each.is_frozen for each in frozen)


async def test_a_session_that_froze_with_the_lock_of_the_sweep_stops_no_rescue(shared_url):
    database, other = Database(shared_url, idle_in_transaction_s=0.5), Database(shared_url)
    take_lock = select(func.pg_try_advisory_xact_lock(_SWEEP_LOCK))
    async with database._reader() as session:
        assert await session.scalar(take_lock)

        async def is_free() -> bool:
            async with other.writing() as later:
                return await later.scalar(take_lock)

        assert not await is_free()
        await until(is_free)
        # The frozen process finds its transaction gone, as it finds a database that restarts.
        with pytest.raises(UNAVAILABLE):
            await session.execute(text("SELECT 1"))
    await asyncio.gather(database.close(), other.close())


async def test_every_connection_notices_that_the_other_end_is_gone(shared_url):
    database = Database(shared_url)
    expected = {
        "keepalives_idle": "10",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "30000",
    }
    assert expected.items() <= conninfo_to_dict(database.conninfo).items()
    async with database.reading() as session:
        raw = await (await session.connection()).get_raw_connection()
        assert expected.items() <= raw.driver_connection.info.get_parameters().items()
        assert await session.scalar(text("SHOW idle_in_transaction_session_timeout")) == "10s"
    await database.close()
