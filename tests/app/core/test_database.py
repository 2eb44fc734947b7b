"""SQLite only: statements run in the event loop's own thread, and never block it."""

import asyncio
import sqlite3

import pytest
from sqlalchemy import URL, text

from app.core.database import Database

pytestmark = pytest.mark.anyio


@pytest.fixture
async def database(tmp_path):
    database = Database(URL.create("sqlite+aiosqlite", database=str(tmp_path / "file.sqlite3")))
    async with database.writing() as session:
        await session.execute(text("CREATE TABLE numbers (number INTEGER)"))
    yield database
    await database.close()


async def insert(database: Database) -> None:
    async with database.writing() as session:
        await session.execute(text("INSERT INTO numbers VALUES (1)"))


async def count(database: Database) -> int:
    async with database.reading() as session:
        return (await session.execute(text("SELECT count(*) FROM numbers"))).scalar_one()


async def test_others_read_while_one_waits_for_another_process_to_write(database, tmp_path):
    holder = sqlite3.connect(tmp_path / "file.sqlite3", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    writer = asyncio.create_task(insert(database))
    while not database.in_use:
        await asyncio.sleep(0.01)
    assert await count(database) == 0
    assert not writer.done()
    holder.execute("ROLLBACK")
    await writer
    assert await count(database) == 1
    holder.close()


async def test_a_transaction_does_not_wait_for_its_turn_in_the_loop(database):
    turns: list[str] = []
    await count(database)  # a connection is open from here on
    asyncio.get_running_loop().call_soon(turns.append, "somebody else's")
    await insert(database)
    assert turns == []
    assert await count(database) == 1


async def test_what_raises_is_rolled_back(database):
    async def fail() -> None:
        async with database.writing() as session:
            await session.execute(text("INSERT INTO numbers VALUES (1)"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await count(database) == 0
    await insert(database)
    assert await count(database) == 1
