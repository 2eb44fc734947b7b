"""The part of a process that runs lessons' programs: with a lease, and stopped when removed."""

import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from app.accounts.caller import GUEST_ID, GUEST_NAME, Guest, User
from app.accounts.service import Accounts
from app.core.clock import now
from app.grading.owned_work import WorkLimits
from app.grading.queue.events import WorkEvents
from app.grading.queue.fair_share import line_up
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.walls import Walls
from app.learning.lessons.lesson import Lesson
from app.learning.lessons.lesson_files import Lessons
from app.learning.lessons.lesson_runner import LessonRunner
from app.learning.lessons.models import LessonRunRow
from app.learning.lessons.runs import LessonRuns
from grader.core.errors import Cancelled, WallMissing
from tests.app.conftest import WallState
from tests.app.grading.queue.taking import doing, renew_often
from tests.app.learning.lessons.folders import write_lesson

pytestmark = pytest.mark.anyio


class Recording(NullGrader):
    """Notes what it ran."""

    def __init__(self):
        self.ran = []

    def run_script(self, source, context):
        self.ran.append(source)
        return super().run_script(source, context)


class Waiting(Recording):
    """Runs nothing until the test allows it, and stops on `stop`."""

    def __init__(self):
        super().__init__()
        self.begun, self.go, self.stopped = threading.Event(), threading.Event(), threading.Event()

    def run_script(self, source, context):
        self.begun.set()
        while not self.go.wait(0.01):
            if context.stop.is_set():
                self.stopped.set()
                raise Cancelled("stopped")
        return super().run_script(source, context)


class Unwalled(NullGrader):
    def run_script(self, source, context):
        raise WallMissing("namespaces", "gone", "bring it back")


@pytest.fixture
async def owner(each_database) -> User:
    life = timedelta(days=1)
    return await Accounts(each_database, session_life=life, link_life=life).ensure_owner()


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    (lesson,) = Lessons.load(write_lesson(tmp_path)).all()
    return lesson


@pytest.fixture
def runs(each_database) -> LessonRuns:
    return LessonRuns(
        each_database, WorkLimits(65_536, guest_runs_per_address=20, guest_runs_in_total=20), line_up, WorkEvents()
    )


def walls_up() -> Walls:
    walls = Walls(lambda: [WallState()])
    walls.probe()
    return walls


def running(database, grader, walls=None):
    return doing(database, LessonRunner(grader).jobs, walls=walls)


async def until_ended(runs, user, run_id):
    while (found := await runs.get(user, run_id)).status != "finished":
        await asyncio.sleep(0.02)
    return found


async def test_a_user_goes_before_guests(each_database, runs, owner, lesson):
    guests = [User(GUEST_ID, GUEST_NAME, "student", Guest(name * 64, "192.0.2.1")) for name in "ab"]
    for number, guest in enumerate(guests):
        await runs.request(guest, lesson, 1, f"guest = {number}")
    asked = await runs.request(owner, lesson, 1, "user = 1")
    grader = Recording()
    task = running(each_database, grader)
    await until_ended(runs, owner, asked.id)
    while len(grader.ran) < 3:
        await asyncio.sleep(0.02)
    assert grader.ran == ["user = 1", "guest = 0", "guest = 1"]
    task.cancel()


async def test_what_a_dead_process_held_is_taken_by_another_and_given_up_at_last(each_database, runs, owner, lesson):
    asked = await runs.request(owner, lesson, 1, "x = 1")
    for tries, fault in ((1, None), (2, "The grader died 2 times")):
        async with each_database.writing() as session:
            gone = {"status": "running", "fence_token": "dead", "lease_until": now() - timedelta(seconds=1)}
            await session.execute(update(LessonRunRow).values(**gone, tries=tries, finished_at=None, result=None))
        task = running(each_database, Recording())
        found = await until_ended(runs, owner, asked.id)
        task.cancel()
        assert (fault is None) == (found.result.fault is None)
        if fault:
            assert fault in found.result.fault.message


async def test_it_is_stopped_when_it_is_removed(each_database, runs, owner, lesson, monkeypatch):
    renew_often(monkeypatch)
    asked = await runs.request(owner, lesson, 1, "x = 1")
    grader = Waiting()
    task = running(each_database, grader)
    await asyncio.to_thread(grader.begun.wait, 60)
    await runs.remove(owner, asked.id)
    assert await asyncio.to_thread(grader.stopped.wait, 60)
    async with each_database.reading() as session:
        assert (await session.scalars(select(LessonRunRow))).all() == []
    task.cancel()


async def test_a_missing_wall_gives_it_back_uncharged(each_database, runs, owner, lesson):
    await runs.request(owner, lesson, 1, "x = 1")
    walls = walls_up()
    task = running(each_database, Unwalled(), walls)
    while walls.are_up:
        await asyncio.sleep(0.02)
    while True:
        async with each_database.reading() as session:
            row = (await session.scalars(select(LessonRunRow))).one()
        if row.status == "queued":
            break
        await asyncio.sleep(0.02)
    assert (row.tries, row.result) == (0, None)
    task.cancel()
