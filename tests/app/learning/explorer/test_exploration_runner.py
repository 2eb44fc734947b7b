"""The part of a process that explores: with a lease, and stopped when nobody wants the result."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.accounts.caller import User
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database
from app.grading.owned_work import WorkLimits
from app.grading.queue.events import WorkEvents
from app.grading.queue.fair_share import line_up
from app.grading.queue.walls import Walls
from app.learning.explorer.exploration_runner import Explorer
from app.learning.explorer.models import ExplorationRow
from app.learning.explorer.service import Explorations
from app.problems.catalogue import Catalogue
from app.problems.exams import EveryExam
from app.problems.package_store import PackageStore
from app.problems.visibility import Visibility
from grader.core.errors import WallMissing
from tests.app.grading.queue.taking import doing, renew_often
from tests.app.learning.explorer.conftest import Measuring, Waiting
from tests.app.learning.explorer.test_api import explore

pytestmark = pytest.mark.anyio


@pytest.fixture
async def owner(each_database) -> User:
    life = timedelta(days=1)
    return await Accounts(each_database, session_life=life, link_life=life).ensure_owner()


@pytest.fixture
async def explorations(each_database, package, tmp_path):
    await PackageStore(each_database).add(package)
    catalogue = Catalogue.load(tmp_path / "problems")
    return Explorations(
        each_database,
        catalogue,
        WorkLimits(65_536),
        Visibility(catalogue, EveryExam(), PackageStore(each_database)),
        line_up,
        WorkEvents(),
    )


def exploring(database, grader):
    return doing(database, Explorer(grader, PackageStore(database)).jobs)


async def until_ended(explorations, owner, exploration_id):
    while (found := await explorations.get(owner, exploration_id)).status != "finished":
        await asyncio.sleep(0.02)
    return found


async def test_what_a_dead_process_held_is_taken_by_another_and_given_up_at_last(
    each_database, explorations, owner, package
):
    asked = await explorations.request(owner, package.slug, "x = 1")
    for tries, fault in ((1, None), (2, "The grader died 2 times")):
        async with each_database.writing() as session:
            gone = {"status": "running", "fence_token": "dead", "lease_until": now() - timedelta(seconds=1)}
            await session.execute(update(ExplorationRow).values(**gone, tries=tries, finished_at=None, result=None))
        task = exploring(each_database, Measuring())
        found = await until_ended(explorations, owner, asked.id)
        task.cancel()
        assert (fault is None) == (found.result.fault is None)
        if fault:
            assert fault in found.result.fault.message


async def test_a_part_of_a_result_is_never_taken_for_the_whole(each_database, explorations, owner, package):
    grader = Measuring()
    grader.rest.clear()
    asked = await explorations.request(owner, package.slug, "x = 1")
    task = exploring(each_database, grader)
    while (found := await explorations.get(owner, asked.id)).partial_result is None:
        await asyncio.sleep(0.02)
    assert (found.result, found.has_fault, len(found.partial_result.programs)) == (None, None, 1)
    equal = await explorations.request(owner, package.slug, "x = 1")
    assert (equal.exploration.status, equal.stored_result) == ("queued", None)
    await explorations.remove(owner, equal.id)
    assert await explorations.stored_result(package, "x = 1") is None
    async with each_database.reading() as session:
        part = await session.scalar(select(ExplorationRow.result).where(ExplorationRow.id == asked.id))
    grader.rest.set()
    whole = await until_ended(explorations, owner, asked.id)
    task.cancel()
    assert (whole.partial_result, len(whole.result.programs)) == (None, 2)

    # The next try drops the part that a dead process stored.
    async with each_database.writing() as session:
        gone = {"status": "running", "fence_token": "dead", "lease_until": now() - timedelta(seconds=1)}
        this = update(ExplorationRow).where(ExplorationRow.id == asked.id)
        await session.execute(this.values(**gone, tries=1, finished_at=None, result=part))
    waiting = Waiting()
    task = exploring(each_database, waiting)
    await asyncio.to_thread(waiting.begun.wait, 60)
    assert (await explorations.get(owner, asked.id)).partial_result is None
    waiting.go.set()
    await until_ended(explorations, owner, asked.id)
    task.cancel()


async def test_it_is_stopped_when_it_is_deleted(each_database, explorations, owner, package, monkeypatch):
    renew_often(monkeypatch)
    asked = await explorations.request(owner, package.slug, "x = 1")
    grader = Waiting()
    task = exploring(each_database, grader)
    await asyncio.to_thread(grader.begun.wait, 60)
    await explorations.remove(owner, asked.id)
    assert await asyncio.to_thread(grader.stopped.wait, 60)
    async with each_database.reading() as session:
        assert (await session.scalars(select(ExplorationRow))).all() == []
    task.cancel()


async def test_it_goes_on_after_a_restart(start_service):
    grader = Waiting()
    async with start_service(grader) as service:
        asked = await explore(service)
        await asyncio.to_thread(grader.begun.wait, 60)
    async with start_service(Measuring()) as service:
        while True:
            found = (await service.http.get(asked.headers["location"], headers=service.bearer)).json()
            if found["status"] == "finished":
                break
            await asyncio.sleep(0.02)
        assert found["has_fault"] is False


async def test_a_missing_wall_gives_it_back_uncharged(start_service, monkeypatch):
    def unwalled(*args, **named):
        raise WallMissing("namespaces", "gone", "bring it back")

    monkeypatch.setattr(Measuring, "inspect", unwalled)
    async with start_service(Measuring()) as service:
        asked = await explore(service)
        while service.services[Walls].are_up:
            await asyncio.sleep(0.02)
        while True:
            found = (await service.http.get(asked.headers["location"], headers=service.bearer)).json()
            if found["status"] == "queued":
                break
            await asyncio.sleep(0.02)
        async with service.services[Database].reading() as session:
            assert (await session.scalars(select(ExplorationRow.tries))).one() == 0
