"""Every server knows each process that grades: where it is shown, and what people read while there is none."""

import asyncio
import html
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event, insert, select
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database
from app.grading.queue.grading_tries import GradingProcess
from app.grading.queue.models import DeploymentRow, WorkerRow
from app.grading.queue.server_code import announce_code
from app.grading.queue.standstill import RESTART
from app.grading.queue.walls import Walls
from app.grading.queue.workers import LIVE_S, NO_WORKER, OwnWorker, Workers, count_connected
from app.learning.explorer.models import ExplorationRow
from tests.app.accounts.people import sign_in
from tests.app.conftest import WallState
from tests.app.grading.attempts.test_submit import ATTEMPTS
from tests.app.learning.explorer.test_api import FUNCTION
from tests.app.loops import quicken
from tests.app.operations.operating.test_metrics import scrape

pytestmark = pytest.mark.anyio
PAGE = {"Accept": "text/html"}
POSTGRESQL_ALONE = pytest.mark.xdist_group("postgresql")
# What a worker somewhere else has written.
CODE = "0123456789abcdef jax 0.0.0"
ROW = {"version": "0.1.0", "code": CODE, "slots": 2, "can_grade": True, "clock_offset_s": 0.0}
NOTHING = {"walls": [], "setbacks": [], "warnings": []}


def own(name="here", *, up=True, code=CODE, walls=None):
    if walls is None:
        walls = Walls(lambda: [WallState(up=up)])
        walls.probe()
    return OwnWorker(GradingProcess(name, code), 2, walls)


@pytest.fixture
async def with_secret(shared_url):
    """With a server's secret, as after its first start."""
    database = Database(shared_url)
    async with database.writing() as session:
        session.add(DeploymentRow(id=1, secret="0" * 64))
    yield database
    await database.close()


async def add_worker(database, worker_id="elsewhere", *, seen_s=0.0, **columns):
    seen_at = now() - timedelta(seconds=seen_s)
    # It has replaced nothing that died within the last two hours.
    row = {"id": worker_id, "name": worker_id, "started_at": seen_at - timedelta(hours=2), "seen_at": seen_at}
    async with database.writing() as session:
        await session.execute(insert(WorkerRow).values(ROW | NOTHING | row | columns))


async def remove_own_row(service):
    """The service of the tests grades. Without its row, nothing does."""
    service.services[Workers]._own = None
    await service.services[Workers].leave()


async def rows_of(database):
    async with database.reading() as session:
        return list(await session.scalars(select(WorkerRow.name)))


async def test_a_process_is_known_from_its_first_row_to_its_end(each_database):
    workers, reader = Workers(each_database, own()), Workers(each_database)
    assert (await reader.all(), await reader.connected()) == ([], 0)
    await workers.join()
    [found] = await Workers(each_database).all()
    assert (found.name, found.slots, found.is_live, found.can_grade) == ("here", 2, True, True)
    assert [(each.name, each.up) for each in found.walls] == [("namespaces", True)]
    assert abs(found.clock_offset_s) < 1
    assert await Workers(each_database).connected() == 1
    await workers.leave()
    await workers.beat()  # which it was about to do
    assert await Workers(each_database).all() == []


async def test_a_worker_without_a_wall_is_shown_and_cannot_grade(each_database):
    await Workers(each_database, own(up=False)).join()
    reader = Workers(each_database)
    [found] = await reader.all()
    assert [(each.found, each.remedy) for each in found.missing] == [
        ("bubblewrap is not installed", "apt-get install bubblewrap")
    ]
    assert (found.can_grade, await reader.connected()) == (False, 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lab-2:{}", "lab-2:3{}"),
        ("worker-7d9c8f6b5d-x2k4{}:1", "worker-5f6b7c8d9e-k9p2{}:1"),
        ("w-7d9c8f6b5d-x2k4{}", "w-7d9c8f6b5d-abcd{}"),
    ],
)
async def test_processes_that_were_replaced_are_not_shown_as_gone(each_database, old, new):
    """As after a restart by hand, whose process has another id, or of pods, which have other names."""

    async def gone():
        return [each.name for each in await Workers(each_database).all() if not each.is_live]

    minutes = timedelta(minutes=1)
    for number in range(3):
        await add_worker(each_database, f"old {number}", seen_s=600 + number, name=old.format(number))
    await add_worker(each_database, "other", seen_s=600, name="lab-3:1")
    await add_worker(each_database, "server", seen_s=600, name=old.format(7), slots=0, can_grade=False)
    every = await gone()
    assert len(every) == 5
    await add_worker(each_database, "before", name=new.format(8), started_at=now() - 11 * minutes)
    assert await gone() == every, "it was there before they ended"
    for number in range(2):
        await add_worker(each_database, f"new {number}", name=new.format(number), started_at=now() - 9 * minutes)
    assert sorted(set(every) - set(await gone())) == [old.format(1), old.format(2)], "each start replaces one"
    await add_worker(each_database, "new 2", name=new.format(2), started_at=now())
    assert set(await gone()) == {"lab-3:1", old.format(7)}, "another machine, and a process that grades nothing"


async def test_a_worker_that_died_is_shown_for_an_hour_unless_it_came_back(each_database):
    mine = own()
    mine.begun -= 7200
    workers = Workers(each_database, mine)
    await workers.join()
    await add_worker(each_database, seen_s=LIVE_S + 5)
    await add_worker(each_database, "older", seen_s=3700)
    await add_worker(each_database, "again", seen_s=LIVE_S + 5, name="here")
    assert [(each.name, each.is_live) for each in await workers.all()] == [("here", True), ("elsewhere", False)]
    assert await workers.connected() == 1
    await workers.beat()
    assert "older" not in await rows_of(each_database)


async def test_on_sqlite_a_start_forgets_the_process_before_it(tmp_path, start_service):
    async with start_service() as service:
        await add_worker(service.services[Database], "died")
        await service.services[Workers].join()
        assert len(await rows_of(service.services[Database])) == 1
        # The first process has a row by the time it starts others.
        await Workers(service.services[Database], replace(own("second"), is_first=False)).join()
        assert len(await rows_of(service.services[Database])) == 2


@POSTGRESQL_ALONE
async def test_a_clock_that_differs_is_measured(shared_url, monkeypatch):
    database = Database(shared_url)
    monkeypatch.setattr("app.grading.queue.workers.now", lambda: now() + timedelta(seconds=120))
    workers = Workers(database, own())
    await workers.join()
    [found] = await Workers(database).all()
    assert found.clock_offset_s == pytest.approx(120, abs=1)
    # It is seen by the database's clock, so it is not thought to be dead or to live longer.
    assert found.seen_s < 10
    await database.close()


async def test_without_a_worker_the_service_is_not_ready_and_says_so(either):
    await remove_own_row(either)
    await sign_in(either)
    ready = await either.http.get("/readyz")
    assert (ready.status_code, ready.json()["slug"]) == (503, "not-ready")
    assert "No worker that can grade is connected" in ready.json()["detail"]
    page = (await either.http.get("/service", headers=PAGE)).text
    assert "No worker is connected, so nothing is graded." in page
    assert (await scrape(either))["workers",] == 0


@POSTGRESQL_ALONE
async def test_a_student_reads_that_no_worker_is_connected_until_one_is(start_service, start_worker, shared_url):
    async with start_service(database_url=shared_url, grading_slots=0) as service:
        attempt = (await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)).json()
        assert attempt["queue"] == {"ahead": 0, "expected_wait_s": None, "workers": 0}
        page = await service.http.get(f"/attempts/{attempt['id']}", headers=PAGE | service.bearer)
        assert NO_WORKER in page.text
        assert (await service.http.get("/readyz")).status_code == 503
        async with start_worker():
            await service.http.get(f"/api/v1/attempts/{attempt['id']}?wait=60", headers=service.bearer)
            # A server asks the database at most once per second.
            service.services[Workers]._read_at = float("-inf")
            assert (await service.http.get("/readyz")).json()["workers"] == 1
        # The worker has left, and nobody has to wait until its row is too old.
        service.services[Workers]._read_at = float("-inf")
        assert (await service.http.get("/readyz")).status_code == 503


@POSTGRESQL_ALONE
async def test_a_worker_with_another_grader_than_the_server_cannot_grade(with_secret):
    database, walls = with_secret, Walls.elsewhere()
    workers = Workers(database, own(code="ffff jax 0.0.0", walls=walls))
    await workers.join()
    assert (await Workers(database).connected(), walls.may_grade) == (1, True), "no server has said what counts"
    await announce_code(database, CODE)
    await workers.beat()
    [found] = await Workers(database).all()
    assert (found.code, found.is_outdated, found.can_grade, walls.may_grade) == ("ffff jax 0.0.0", True, False, False)
    async with database.reading() as session:
        assert await count_connected(session) == 0
    # As after a server was put back.
    await announce_code(database, "ffff jax 0.0.0")
    await workers.beat()
    assert (await Workers(database).connected(), walls.may_grade) == (1, True)


@POSTGRESQL_ALONE
async def test_an_outdated_worker_is_named_with_how_to_restart_it(start_service, shared_url):
    async with start_service(database_url=shared_url, grading_slots=0) as service:
        await sign_in(service)
        await add_worker(service.services[Database], "grader-2", code="ffff jax 0.0.0")
        ready = await service.http.get("/readyz")
        assert ready.status_code == 503
        named = "The worker grader-2 is outdated and takes nothing: its grader (ffff jax 0.0.0) is not the server's"
        assert f"{named}. {RESTART}" in ready.json()["detail"]
        page = html.unescape((await service.http.get("/service", headers=PAGE)).text)
        assert named in page
        assert RESTART in page
        assert "No worker is connected, so nothing is graded." not in page


async def test_a_page_of_other_work_says_that_no_worker_is_connected(service):
    await sign_in(service)
    services = service.services
    owner = await services[Accounts].ensure_owner()
    # Far from its turn, so that nothing takes it during the test.
    row = {"id": "e" * 32, "user_id": owner.id, "digest": "d", "source": "x", "tries": 0, "created_at": now()}
    later = {"status": "queued", "fence_token": "f", "lease_until": now() + timedelta(hours=1)}
    async with services[Database].writing() as session:
        await session.execute(insert(ExplorationRow).values(function=FUNCTION, **row, **later))
    address = f"/explore/{row['id']}"
    assert NO_WORKER not in (await service.http.get(address, headers=PAGE)).text
    await remove_own_row(service)
    services[Workers]._read_at = float("-inf")
    assert NO_WORKER in (await service.http.get(address, headers=PAGE)).text


async def test_the_service_page_and_the_metrics_name_what_workers_met(either):
    await sign_in(either)
    wall = {"name": "landlock", "up": False, "found": "the kernel has none", "remedy": "use a newer one"}
    setback = {"what": "reference", "name": "fsdp_step", "failures": 4, "why": "it <b>died</b>"}
    database = either.services[Database]
    columns = {"walls": [wall], "setbacks": [setback], "clock_offset_s": -3.25, "can_grade": False}
    await add_worker(database, "grader-2", **columns)
    await add_worker(database, "grader-3", seen_s=180)
    page = (await either.http.get("/service", headers=PAGE)).text
    for words in (
        "The worker grader-2 grades nothing. The wall landlock is missing: the kernel has none",
        "The reference of fsdp_step failed 4 times on grader-2: it &lt;b&gt;died&lt;/b&gt;",
        "The clock of the worker grader-2 is 3.2 s behind the database",
        "The worker grader-3 is gone: it was last seen 3 min ago, and nobody stopped it.",
    ):
        assert words in page
    found = await scrape(either)
    # The two alerts of docs/operating.md.
    assert found["wall_up", "landlock", "grader-2"] == 0
    assert found["setbacks", "fsdp_step", "reference", "grader-2"] == 4
    assert found["worker_clock_offset_seconds", "grader-2"] == -3.25
    assert found["workers",] == 1
    assert not [key for key in found if "grader-3" in key]


async def test_readyz_is_false_while_the_database_cannot_be_written(either):
    workers, database = either.services[Workers], either.services[Database]
    engine = database.engine.sync_engine
    assert (await either.http.get("/readyz")).status_code == 200

    def refuse_writes(connection, record):
        connection.cursor().execute("PRAGMA query_only = 1")

    def refuse_writes_on_postgresql(connection):
        connection.exec_driver_sql("SET TRANSACTION READ ONLY")

    refusal = ("begin", refuse_writes_on_postgresql) if database.shared else ("connect", refuse_writes)
    await database.engine.dispose()
    event.listen(engine, *refusal)
    with pytest.raises(SQLAlchemyError, match=r"read-?only"):
        await workers.beat()
    ready = await either.http.get("/readyz")
    assert (ready.status_code, ready.json()["slug"]) == (503, "not-ready")
    assert "The database cannot be written: it is read-only." in ready.json()["detail"]
    event.remove(engine, *refusal)
    await database.engine.dispose()
    await workers.beat()
    assert (await either.http.get("/readyz")).status_code == 200


async def test_a_full_disk_makes_the_service_not_ready(service, monkeypatch):
    async def full(self, own):
        raise OperationalError("INSERT", {}, Exception("database or disk is full"))

    monkeypatch.setattr(Workers, "_write", full)
    quicken(monkeypatch)
    beating = asyncio.create_task(service.services[Workers].loop.run())
    async with asyncio.timeout(60):
        while (ready := await service.http.get("/readyz")).status_code != 503:
            await asyncio.sleep(0.01)
    beating.cancel()
    assert "The database cannot be written: the disk is full." in ready.json()["detail"]
    assert (await service.http.get("/healthz")).status_code == 200
