"""A process that is older than the database concludes nothing from a package that it cannot read."""

import pytest
from sqlalchemy import text, update

from app.accounts.models import UserRow
from app.core.clock import now
from app.grading.queue.fair_share import line_up
from app.grading.queue.models import AttemptRow
from app.grading.queue.walls import Walls
from app.problems.models import PackageRow
from app.problems.package_store import PackageStore
from tests.app.conftest import FILES, run_as_owner
from tests.app.grading.queue.taking import slots_for

pytestmark = pytest.mark.anyio
KEY = 'added_by_a_later_version = "x"\n'


@pytest.fixture
async def attempt(each_database, package) -> str:
    """One at a version whose manifest has a key that nobody knows."""
    await PackageStore(each_database).add(package)
    files = {name: content for name, content in FILES.items() if "/" not in name}
    async with each_database.writing() as session:
        session.add(UserRow(id="ada", name="ada", role="student", created_at=now()))
        unknown = files | {"problem.toml": KEY + files["problem.toml"]}
        await session.execute(update(PackageRow).values(files=unknown))
        row = AttemptRow(id="a", user_id="ada", problem="add_one", version=package.version, kind="attempt", source="x")
        row.created_at = now()
        await line_up(session, row)
    return "a"


async def read(database, attempt) -> AttemptRow:
    async with database.reading() as session:
        return await session.get_one(AttemptRow, attempt)


async def upgrade(database) -> None:
    await run_as_owner(database, text("UPDATE alembic_version SET version_num = '9999'"))


async def test_it_hands_back_what_it_cannot_read_and_takes_nothing_more(each_database, attempt):
    walls = Walls.elsewhere()
    slots = slots_for(each_database, walls=walls)
    taken = await slots.take()
    await upgrade(each_database)
    await slots.do(taken)
    row = await read(each_database, attempt)
    assert (row.status, row.tries, row.verdict) == ("queued", 0, None)
    [missing] = walls.missing
    assert (missing["wall"], "revision 9999" in missing["found"]) == ("version", True)
    assert "update Meshgrade on this machine" in missing["remedy"]
    assert await slots.take() is None
    assert (await read(each_database, attempt)).gradings[-1]["end"] == "stopped"


async def test_a_process_of_the_databases_version_says_what_is_wrong_with_the_package(each_database, attempt):
    slots = slots_for(each_database)
    await slots.do(await slots.take())
    row = await read(each_database, attempt)
    assert (row.status, row.tries) == ("queued", 1)
    assert "damaged" in row.gradings[-1]["message"]
