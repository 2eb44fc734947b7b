"""Servers and workers that share a PostgreSQL: one grades, the other shows the result, and both draw the same cases."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import text

from app.core.data_folder import DataFolder, judging_secret_of
from app.core.database import Database
from app.core.settings import Settings
from app.core.start_errors import GradingImpossible, RightsMissing, SettingInvalid, StartRefused
from app.grading.attempts.service import Attempts
from app.grading.queue.deployment_secret import share_secret, shared_judging_secret, shared_secret
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from grader.core.code_digest import grader_code
from tests.app.conftest import empty
from tests.app.grading.attempts.test_submit import ATTEMPTS, HeldGrader

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("postgresql")]


class HoldsOne(HeldGrader):
    """Holds a source named `hold`, and grades every other source at once."""

    def judge(self, package, source, *args, **options):
        held = super() if source == "hold" else NullGrader()
        return held.judge(package, source, *args, **options)


async def submit(service, wait, source="x"):
    answer = await service.http.post(f"{ATTEMPTS}?wait={wait}", json={"source": source}, headers=service.bearer)
    return answer.json()


async def test_a_server_grades_as_soon_as_its_walls_have_been_probed(start_service, shared_url, package, monkeypatch):
    # It would not look at the walls a second time by itself.
    monkeypatch.setattr("app.grading.queue.procrastinate_queue._WALLS_AGAIN_S", 3600.0)
    async with start_service(database_url=shared_url) as service:
        assert (await submit(service, 20, package.reference))["verdict"]["status"] == "accepted"


async def test_a_server_that_grades_nothing_hears_what_a_worker_does(start_service, start_worker, shared_url, package):
    grader, seen = HeldGrader(), []
    async with start_service(database_url=shared_url, grading_slots=0, wall_up=False) as service:
        attempt = await submit(service, 0, package.reference)
        assert attempt["status"] == "queued"
        with service.services[Attempts].events.subscribe(attempt["id"], "ada") as changes:
            async with start_worker(grader, seen=seen):
                heard = []
                while "held" not in heard:
                    heard.append((await changes.next(60)).phase)
                grader.go.set()
                while not (change := await changes.next(60)).is_last:
                    pass
                assert change.status == "finished"
        assert (await submit(service, 0))["status"] == "queued"
        secret = await asyncio.to_thread((service.services[Settings].data / "secret").read_bytes)
    assert seen == [judging_secret_of(secret)]


async def test_cancelling_at_the_server_stops_the_grading_at_the_worker(start_service, start_worker, shared_url):
    async with start_service(database_url=shared_url, grading_slots=0) as service, start_worker(HoldsOne()):
        attempt = await submit(service, 0, "hold")
        with service.services[Attempts].events.subscribe(attempt["id"], "ada") as changes:
            while (await changes.next(60)).phase != "held":
                pass
        await service.http.delete(f"/api/v1/attempts/{attempt['id']}", headers=service.bearer)
        # The worker has one slot: it is free for the next only once the first has been stopped.
        assert (await submit(service, 20))["status"] == "finished"
        found = await service.http.get(f"/api/v1/attempts/{attempt['id']}", headers=service.bearer)
        assert (found.json()["status"], found.json()["verdict"]) == ("cancelled", None)


async def test_a_worker_without_a_wall_does_not_start(start_service, start_worker, shared_url):
    async with start_service(database_url=shared_url, grading_slots=0):
        with pytest.raises(GradingImpossible, match="the wall 'namespaces' is missing"):
            async with start_worker(wall_up=False):
                pytest.fail("it started")


async def test_a_worker_with_another_grader_takes_nothing_and_leaves_it_to_others(
    start_service, start_worker, shared_url, package, monkeypatch
):
    async with start_service(database_url=shared_url, grading_slots=0) as service:
        attempt = await submit(service, 0, package.reference)
        refused = asyncio.Event()
        monkeypatch.setattr("app.grading.queue.walls.log.error", lambda *words: refused.set())
        async with AsyncExitStack() as stack:
            with monkeypatch.context() as older:
                older.setattr("app.entry.assembly.grader_code", lambda: "ffff jax 0.0.0")
                await stack.enter_async_context(start_worker(name="older"))
            await asyncio.wait_for(refused.wait(), 60)
            await stack.enter_async_context(start_worker(name="another"))
            found = await service.http.get(f"/api/v1/attempts/{attempt['id']}?wait=60", headers=service.bearer)
            assert found.json()["verdict"]["status"] == "accepted"
        async with service.services[Database].reading() as session:
            [grading] = (await session.get_one(AttemptRow, attempt["id"])).gradings
    assert (grading["worker"], grading["code"]) == ("another", grader_code())


async def test_a_worker_waits_for_the_servers_secret(start_service, start_worker, owners_url, monkeypatch):
    """And for the tables: the server is the first that opens this database."""
    database = Database(owners_url)
    await empty(database)
    await database.close()
    monkeypatch.setattr("app.entry.worker._LOOK_FOR_SECRET_S", 0.05)
    looks = []

    async def look(database):
        looks.append(await shared_judging_secret(database))
        return looks[-1]

    monkeypatch.setattr("app.entry.worker.shared_judging_secret", look)

    async def work():
        async with start_worker(database_url=owners_url):
            return True

    worker = asyncio.create_task(work())
    async with asyncio.timeout(60):
        while len(looks) < 3:
            await asyncio.sleep(0.05)
    assert looks[:3] == [None] * 3
    assert not worker.done()
    async with start_service(database_url=owners_url, grading_slots=0):
        assert await asyncio.wait_for(worker, 60)


async def test_a_worker_does_not_start_without_tables_that_it_may_not_create(start_worker, owners_url):
    database = Database(owners_url)
    await empty(database)
    async with database.engine.begin() as connection:
        await connection.execute(text("GRANT USAGE ON SCHEMA public TO PUBLIC"))
    await database.close()
    with pytest.raises(StartRefused, match="permission denied for schema public") as fault:
        async with start_worker():
            pytest.fail("it started")
    assert "./meshgrade migrate" in fault.value.remedy


async def test_a_worker_that_lacks_a_right_takes_no_work(start_worker, owners_url):
    database = Database(owners_url)
    async with database.engine.begin() as connection:
        await connection.execute(text("REVOKE UPDATE (verdict) ON attempts FROM migrated_worker"))
    await database.close()
    with pytest.raises(RightsMissing, match="it needs UPDATE on attempts, column verdict"):
        async with start_worker():
            pytest.fail("it started")


async def test_the_first_servers_secret_is_in_force_for_all(each_database, tmp_path):
    with DataFolder(tmp_path / "one") as one, DataFolder(tmp_path / "two") as two:
        assert await shared_secret(each_database) is None
        assert await share_secret(each_database, one.secret) == one.secret
        assert await share_secret(each_database, two.secret) == one.secret
    assert await shared_secret(each_database) == (one.secret if each_database.shared else None)
    assert await shared_judging_secret(each_database) == (one.judging_secret if each_database.shared else None)


async def test_a_server_on_sqlite_must_grade(start_service):
    with pytest.raises(SettingInvalid, match="0 requires PostgreSQL"):
        async with start_service(grading_slots=0):
            pytest.fail("it started")


async def test_a_worker_validates_versions_for_a_server_that_grades_nothing(
    start_service, start_worker, shared_url, package
):
    url = "/api/v1/problems/add_one/validations"
    async with start_service(database_url=shared_url, grading_slots=0, wall_up=False) as service:
        asked = await service.http.post(url, json={"version": package.version}, headers=service.bearer)
        assert asked.json()["status"] == "queued"
        async with start_worker(NullGrader()):
            while (validation := await service.http.get(asked.headers["location"], headers=service.bearer)).json()[
                "passed"
            ] is None:
                await asyncio.sleep(0.05)
        assert len(validation.json()["steps"]) == validation.json()["total"]
