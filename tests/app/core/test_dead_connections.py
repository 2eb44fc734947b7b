"""PostgreSQL ends connections, as when it restarts: each is replaced before it is used, and few uses cost a ping.

As long as a connection lives, the server keeps the plans of what is read.
"""

import asyncio

import pytest
from sqlalchemy import func, literal_column, select, text
from sqlalchemy.exc import DBAPIError, OperationalError

from app.core.database import Database, select_rows
from app.core.prepared_select import PreparedSelect

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("postgresql")]
_END_OTHERS = text(
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
    "WHERE pid <> pg_backend_pid() AND datname = current_database()"
)

_PROCESS = select(func.pg_backend_pid())
_SLEEPS = text("SELECT count(*) FROM pg_stat_activity WHERE pid = :process AND wait_event = 'PgSleep'")


@pytest.fixture
async def database(postgres_url):
    database = Database(postgres_url)
    yield database
    await database.close()


async def one(database: Database) -> int | None:
    async with database.reading() as session:
        return await session.scalar(text("SELECT 1"))


async def _ended(database: Database) -> int:
    async with database.reading() as session:
        return await session.scalar(_END_OTHERS) or 0


async def end_connections(database: Database) -> None:
    other = Database(database.engine.url)
    try:
        # Each in its own transaction, which sees one state of the activity.
        while await _ended(other):
            await asyncio.sleep(0.02)
    finally:
        await other.close()


async def test_a_connection_that_rested_is_tried_before_it_is_used(database, monkeypatch):
    monkeypatch.setattr("app.core.postgresql_connections._TRUSTED_S", 0.0)
    assert await one(database) == 1
    await end_connections(database)
    assert await one(database) == 1


async def test_a_connection_that_the_server_ended_is_replaced_however_lately_it_was_used(database):
    async with database.reading() as first, database.reading() as second:
        assert await first.scalar(text("SELECT 1")) == await second.scalar(text("SELECT 1")) == 1
    await end_connections(database)
    assert [await one(database) for _ in range(3)] == [1, 1, 1]


async def test_a_connection_in_use_all_the_time_is_not_tried(database, monkeypatch):
    pings = []
    monkeypatch.setattr(type(database.engine.dialect), "do_ping", lambda self, connection: pings.append(connection))
    for _ in range(5):
        assert await one(database) == 1
    assert pings == []


async def test_the_server_plans_once_what_is_read_again_and_again(database):
    for _ in range(10):
        assert await one(database) == 1
    async with database.reading() as session:
        planned = (await session.scalars(text("SELECT statement FROM pg_prepared_statements"))).all()
    assert "SELECT 1" in planned


async def test_after_an_error_the_connection_reads_again(database):
    with pytest.raises(DBAPIError):
        async with database.reading() as session:
            await session.execute(text("SELECT 1 / 0"))
    assert await one(database) == 1


async def test_a_prepared_select_notices_that_its_connection_was_ended(database):
    one_row = PreparedSelect(select(literal_column("1")))
    async with database.reading() as session:
        assert (await select_rows(session, one_row, {})).scalar() == 1
        await end_connections(database)
        with pytest.raises(OperationalError) as caught:
            await select_rows(session, one_row, {})
        assert caught.value.connection_invalidated
    async with database.reading() as session:
        assert (await select_rows(session, one_row, {})).scalar() == 1


async def test_a_cancelled_prepared_select_leaves_no_connection_in_an_unknown_state(database):
    async def sleep() -> None:
        async with database.reading() as session:
            process.set_result(await session.scalar(_PROCESS))
            await select_rows(session, PreparedSelect(select(func.pg_sleep(600))), {})

    process = asyncio.get_running_loop().create_future()
    sleeping = asyncio.create_task(sleep())
    other = Database(database.engine.url)
    try:
        while not await _sleeps(other, await process):
            await asyncio.sleep(0.02)
        sleeping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sleeping
        async with database.reading() as session:
            assert await session.scalar(_PROCESS) != await process
        assert await one(database) == 1
        while await _sleeps(other, await process):
            await asyncio.sleep(0.02)
    finally:
        await other.close()


async def _sleeps(database: Database, process: int) -> bool:
    async with database.reading() as session:
        found = await session.scalar(_SLEEPS, {"process": process})
    return bool(found)
