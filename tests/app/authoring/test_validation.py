"""Validating a version: done once, in the background, by a process that grades, and read while it runs."""

import asyncio
import threading
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.authoring.models import ValidationRow
from app.authoring.validations import Validations
from app.authoring.validator import Validator, steps_of
from app.core.clock import now
from app.core.database import Database
from app.grading.queue.fair_share import line_up
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.walls import Walls
from app.problems.package_store import PackageStore
from grader.core.errors import Cancelled, GraderFault, WallMissing
from tests.app.authoring.zips import upload
from tests.app.conftest import FILES, WallState
from tests.app.grading.queue.taking import doing, renew_often

pytestmark = pytest.mark.anyio
# The judge of these tests accepts the text of the reference alone.
GOOD = FILES | {"submissions/accepted/plus.py": FILES["reference.py"]}
GOOD |= {name: '"""Adds one."""\n' + GOOD["reference.py"] for name in ("reference.py", "submissions/accepted/plus.py")}
URL = "/api/v1/problems/add_one"


async def ask(service, version, slug="add_one"):
    url = f"/api/v1/problems/{slug}/validations"
    return await service.http.post(url, json={"version": version}, headers=service.bearer)


async def ended(service, answer):
    while True:
        validation = (await service.http.get(answer.headers["location"], headers=service.bearer)).json()
        if validation["status"] == "finished":
            return validation
        await asyncio.sleep(0.02)


async def test_a_good_package_passes(either):
    version = (await upload(either, GOOD)).json()["version"]
    answer = await ask(either, version)
    assert answer.status_code == 202
    assert (answer.json()["version"], answer.json()["problem"]) == (version, "add_one")
    validation = await ended(either, answer)
    assert (validation["passed"], len(validation["steps"])) == (True, validation["total"])
    files = [each["file"] for each in validation["steps"]]
    assert set(files) == {
        "statement.md",
        "starter.py",
        "cases.py",
        "reference.py",
        "submissions/accepted/plus.py",
        "submissions/rejected/wrong_value/minus.py",
    }
    assert validation["finished_at"] is not None


async def test_each_submission_with_another_verdict_is_found(either):
    wrong = GOOD | {
        "starter.py": GOOD["reference.py"],
        "submissions/accepted/other.py": '"""Another way."""\ndef add_one(x): return 1 - -x\n',
        "submissions/rejected/wrong_shape/minus.py": FILES["submissions/rejected/wrong_value/minus.py"],
    }
    validation = await ended(either, await ask(either, (await upload(either, wrong)).json()["version"]))
    assert validation["passed"] is False
    missed = {(each["file"], each["message"].partition(".")[0]) for each in validation["steps"] if not each["passed"]}
    assert missed == {
        (
            "starter.py",
            "Public files reveal secrets: starter",
        ),
        ("starter.py", "It must be rejected, but it is accepted"),
        ("submissions/accepted/other.py", "It must be accepted, but it is rejected (wrong_value)"),
        (
            "submissions/rejected/wrong_shape/minus.py",
            "It must be rejected (wrong_shape), but it is rejected (wrong_value)",
        ),
    }


async def test_a_validation_stores_the_fingerprints_of_the_known_mistakes(either, package):
    await ended(either, await ask(either, package.version))
    stored = await either.services[PackageStore].get(package.version)
    names = {each.name for each in package.rejected if each.reason == "wrong_value"}
    assert names
    assert {name: each.results for name, each in stored.known.mistakes.items() if each.results} == {
        each.name: {"public-1": {"": each.source.strip().rpartition("\n")[2]}}
        for each in package.rejected
        if each.name in names
    }


async def test_what_is_not_there_cannot_be_validated(service, package):
    for slug, version in (("add_one", "0" * 64), ("add_two", package.version), ("%00", package.version)):
        answer = await ask(service, version, slug)
        assert (answer.status_code, answer.json()["slug"]) == (404, "version-not-found")
    for body in ({}, {"version": "latest"}, {"version": package.version, "x": 1}):
        answer = await service.http.post(f"{URL}/validations", json=body, headers=service.bearer)
        assert answer.status_code == 422
    made = await ask(service, package.version)
    elsewhere = made.headers["location"].replace("one", "two")
    for path in (f"{URL}/validations/{'0' * 32}", f"{URL}/validations/a%00b", elsewhere):
        answer = await service.http.get(path, headers=service.bearer)
        assert (answer.status_code, answer.json()["slug"]) == (404, "validation-not-found")


async def test_nothing_is_validated_without_walls(start_service, package):
    async with start_service(wall_up=False) as service:
        answer = await ask(service, package.version)
        assert (answer.status_code, answer.json()["slug"]) == (503, "wall-missing")


class Waiting(NullGrader):
    """Judges nothing until the test allows it, and stops on `stop`."""

    def __init__(self):
        self.begun, self.go, self.stopped = threading.Event(), threading.Event(), threading.Event()

    def judge(self, package, source, context, **options):
        self.begun.set()
        while not self.go.wait(0.01):
            if context.stop.is_set():
                self.stopped.set()
                raise Cancelled("stopped")
        return super().judge(package, source, **options)


async def test_a_validation_that_waits_is_not_begun_again(start_service, package):
    grader = Waiting()
    async with start_service(grader) as service:
        first = await ask(service, package.version)
        await asyncio.to_thread(grader.begun.wait, 60)
        second = await ask(service, package.version)
        assert second.json()["id"] == first.json()["id"]
        assert (second.json()["status"], second.json()["passed"]) == ("running", None)
        assert len(second.json()["steps"]) == 3
        grader.go.set()
        await ended(service, first)
        assert (await ask(service, package.version)).json()["id"] != first.json()["id"]


async def test_a_validation_goes_on_after_a_restart(start_service, package):
    grader = Waiting()
    async with start_service(grader) as service:
        asked = await ask(service, package.version)
        await asyncio.to_thread(grader.begun.wait, 60)
    async with start_service() as service:
        assert (await ended(service, asked))["status"] == "finished"


class Broken(NullGrader):
    def __init__(self, error):
        self.error = error

    def prepare(self, package, *args, **options):
        raise self.error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (GraderFault("add_one: reference.py failed: NameError"), "reference.py failed: NameError"),
        (RuntimeError("unforeseen"), "RuntimeError"),
    ],
)
async def test_a_package_that_cannot_be_judged_says_why(start_service, package, error, said):
    async with start_service(Broken(error)) as service:
        validation = await ended(service, await ask(service, package.version))
        assert validation["passed"] is False
        assert said in next(each for each in validation["steps"] if not each["passed"])["message"]


@pytest.fixture
async def validations(each_database, package):
    await PackageStore(each_database).add(package)
    return Validations(each_database, line_up)


def validating(database, grader=None):
    walls = Walls(lambda: [WallState()])
    walls.probe()
    validator = Validator(database, grader or NullGrader(), PackageStore(database), walls)
    return doing(database, validator.jobs)


async def until_ended(validations, validation):
    while (found := await validations.get(validation.slug, validation.id)).status != "finished":
        await asyncio.sleep(0.02)
    return found


async def test_what_a_dead_process_held_is_taken_by_another_and_given_up_at_last(each_database, validations, package):
    validation = await validations.request(package.version, len(steps_of(package)))

    async def die(tries):
        async with each_database.writing() as session:
            gone = {"status": "running", "fence_token": "dead", "lease_until": now() - timedelta(seconds=1)}
            await session.execute(update(ValidationRow).values(**gone, tries=tries, finished_at=None, steps=[]))

    for tries, said in ((1, "It is accepted"), (2, "The grader died 2 times")):
        await die(tries)
        task = validating(each_database)
        found = await until_ended(validations, validation)
        task.cancel()
        assert [each for each in found.steps if said in each.message]


async def test_who_lost_the_lease_writes_nothing(each_database, validations, package, monkeypatch):
    renew_often(monkeypatch)
    await validations.request(package.version, len(steps_of(package)))
    grader = Waiting()
    task = validating(each_database, grader)
    await asyncio.to_thread(grader.begun.wait, 60)
    async with each_database.writing() as session:
        taken = {"fence_token": "another", "lease_until": now() + timedelta(hours=1), "steps": []}
        await session.execute(update(ValidationRow).values(**taken))
    # It stops because the lease is lost.
    assert await asyncio.to_thread(grader.stopped.wait, 60)
    async with each_database.reading() as session:
        row = (await session.scalars(select(ValidationRow))).one()
    assert (row.fence_token, row.status, row.steps) == ("another", "running", [])
    task.cancel()


async def test_a_missing_wall_gives_the_validation_back_uncharged(start_service, package):
    class Unwalled(NullGrader):
        def judge(self, package, source, *args, **options):
            raise WallMissing("namespaces", "gone", "bring it back")

    async with start_service(Unwalled()) as service:
        asked = await ask(service, package.version)
        while service.services[Walls].are_up:
            await asyncio.sleep(0.02)
        while (validation := (await service.http.get(asked.headers["location"], headers=service.bearer)).json())[
            "status"
        ] != "queued":
            await asyncio.sleep(0.02)
        assert validation["passed"] is None
        async with service.services[Database].reading() as session:
            assert (await session.scalars(select(ValidationRow.tries))).one() == 0
