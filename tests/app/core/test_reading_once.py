"""What a page shows is read in one transaction."""

import asyncio

import pytest
from sqlalchemy import event, func, select, text
from sqlalchemy.exc import DBAPIError

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database, once, select_rows

pytestmark = pytest.mark.anyio


def begun_in(database: Database) -> list[object]:
    """The transactions that are begun from now on, as a list that grows."""
    found: list[object] = []
    event.listen(database.engine.sync_engine, "begin", found.append)
    return found


async def count_users(database: Database) -> int:
    async with database.reading() as session:
        return await session.scalar(select(func.count()).select_from(UserRow)) or 0


async def test_the_reads_of_a_task_share_a_transaction(each_database):
    begun = begun_in(each_database)
    async with each_database.reading_once():
        assert begun == []
        for _ in range(3):
            assert await count_users(each_database) == 0
        assert len(begun) == 1
        # Another task has its own, because a connection runs one statement at a time.
        await asyncio.gather(count_users(each_database), count_users(each_database))
        assert len(begun) == 3
    assert each_database.in_use == 0
    await count_users(each_database)
    assert len(begun) == 4


async def test_a_task_that_waits_for_something_else_holds_no_connection(each_database):
    begun = begun_in(each_database)
    async with each_database.reading_once():
        await count_users(each_database)
        assert each_database.in_use == 1
        while each_database.in_use:
            await asyncio.sleep(0.01)
        # The session of a read that has not ended stays, whatever the task waits for inside.
        async with each_database.reading() as session:
            await session.scalar(select(func.count()).select_from(UserRow))
            # For longer than it takes to end a session that nobody reads in: another task reads meanwhile.
            await asyncio.create_task(count_users(each_database))
            assert each_database.in_use == 1
            assert await count_users(each_database) == 0
        assert len(begun) == 3
    assert each_database.in_use == 0


async def test_what_is_read_after_a_write_includes_it(each_database):
    begun = begun_in(each_database)
    async with each_database.reading_once():
        assert await count_users(each_database) == 0
        async with each_database.writing() as session:
            session.add(UserRow(id="u", name="u", role="student", created_at=now()))
            await session.flush()
            # It does not hold two connections.
            assert each_database.in_use == 1
        assert await count_users(each_database) == 1
    assert len(begun) == 3


async def test_a_page_asks_the_same_question_once(each_database):
    asked: list[int] = []

    async def in_a_page() -> int:
        async def read() -> int:
            asked.append(1)
            return await session.scalar(select(func.count()).select_from(UserRow)) or 0

        async with each_database.reading() as session:
            return await once(session, "users", read)

    async with each_database.reading_once():
        assert [await in_a_page(), await in_a_page()] == [0, 0]
        assert len(asked) == 1
        async with each_database.writing() as session:
            session.add(UserRow(id="u", name="u", role="student", created_at=now()))
        assert await in_a_page() == 1
    assert [await in_a_page(), await in_a_page()] == [1, 1]
    assert len(asked) == 4


async def test_after_an_error_the_next_read_begins_anew(each_database):
    begun = begun_in(each_database)
    async with each_database.reading_once():
        with pytest.raises(DBAPIError):
            async with each_database.reading() as session:
                await session.execute(text("SELECT nothing FROM nowhere"))
        assert await count_users(each_database) == 0
    assert len(begun) == 2


@pytest.mark.parametrize("path", ["/problems", "/problems/add_one", "/attempts", "/account", "/courses", "/lessons"])
async def test_a_page_is_read_in_one_transaction(start_service, path):
    async with start_service() as service:
        await service.http.get(path, headers=service.bearer)
        tasks = asyncio.all_tasks()
        begun: list[object] = []

        def note(connection: object) -> None:
            # Not those of the tasks in the background.
            if asyncio.current_task() not in tasks or asyncio.current_task() is mine:
                begun.append(connection)

        mine = asyncio.current_task()
        event.listen(service.services[Database].engine.sync_engine, "begin", note)
        assert (await service.http.get(path, headers=service.bearer)).status_code == 200
        assert len(begun) == 1


async def test_what_a_read_changes_in_objects_is_not_stored(each_database):
    async with each_database.writing() as session:
        session.add(UserRow(id="u", name="before", role="student", created_at=now()))
    async with each_database.reading() as session:
        (await session.get_one(UserRow, "u")).name = "after"
        found = await select_rows(session, select(UserRow.name), {})
        assert found.scalar_one() == "before"
    async with each_database.reading() as session:
        assert (await session.get_one(UserRow, "u")).name == "before"
