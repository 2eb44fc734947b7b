"""The slots of the embedded queue, without a service around it: what wakes them, what they survive, and how they end.

The queue looks for dead workers every ten minutes, so nothing here is graded only because of that.
"""

import asyncio
import shutil
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import URL, update

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.grading.queue import embedded_queue
from app.grading.queue.embedded_queue import EmbeddedQueue
from app.grading.queue.events import WorkEvents
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import QueueLimits
from app.grading.queue.slots import Slots
from app.grading.queue.status import ENDED
from app.grading.queue.walls import Walls
from grader.core.context import QUIET
from grader.core.errors import Cancelled
from grader.package.package import Package
from grader.verdicts.verdict import Verdict
from tests.app.conftest import WallState
from tests.app.grading.queue.taking import HERE
from tests.app.loops import quicken

pytestmark = pytest.mark.anyio


class Gate(NullGrader):
    """Notes what it begins with, and grades it once the gate is open. `fails` raises that often first.

    `at_once` is the largest number of gradings at the same time.
    """

    def __init__(self, *, is_open: bool = True, fails: int = 0) -> None:
        self.began: list[str] = []
        self.at_once = self.running = 0
        self.lock = threading.Lock()
        self.gate = threading.Event()
        self.fails = fails
        if is_open:
            self.gate.set()

    def judge(self, package, source, context=QUIET, *, hidden=True, draw=None, own=None) -> Verdict:
        with self._counted():
            self.began.append(source)
            while not self.gate.wait(0.01):
                if context.stop.is_set():
                    raise Cancelled("stopped")
            if self.fails:
                self.fails -= 1
                raise RuntimeError("boom")
            return super().judge(package, source, context, hidden=hidden)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self.lock:
            self.running += 1
            self.at_once = max(self.at_once, self.running)
        try:
            yield
        finally:
            with self.lock:
                self.running -= 1


class Bench:
    """A queue on a database of its own."""

    def __init__(self, database: Database, package: Package, grader: Gate, wall: WallState, **options: object) -> None:
        self.database, self.package, self.grader, self.wall = database, package, grader, wall
        limits = {"slots": 1, "lease_s": 1200.0, "retry_s": 0.01, "max_tries": 3, "max_deaths": 3}
        limits |= {name: value for name, value in options.items() if name in limits}
        self.events = WorkEvents()
        self.changes: list[tuple[str, str]] = []
        self.events.watch(lambda attempt, change: self.changes.append((attempt, change.status)))
        self.probes = 0
        self.walls = Walls(self._probed)
        self.walls.probe()
        shared = (self.walls, self.events, QueueLimits(**limits))  # type: ignore[arg-type]
        self.slots = Slots(database, grader, self, *shared, by=HERE)
        self._take, self.slots.take = self.slots.take, self._noted_take  # type: ignore[method-assign]
        # For each look of a slot that found nothing to take: how many gradings had begun before it.
        self.in_vain: list[int] = []
        self.queue = EmbeddedQueue(database, self.slots, *shared, sole=bool(options.get("sole", True)))

    def _probed(self) -> list[WallState]:
        self.probes += 1
        return [self.wall]

    async def _noted_take(self, **options: bool) -> object:
        begun = len(self.grader.began)
        taken = await self._take(**options)
        if taken is None:
            self.in_vain.append(begun)
        return taken

    async def looked_in_vain(self, *, after: int) -> None:
        """Wait until a slot has found nothing to take once this many gradings had begun.

        A slot may have looked just before the last of them began, and would then rest for up to 15 s. So wake it.
        """
        if after not in self.in_vain:
            self.queue._news.set()
        await self.until(lambda: after in self.in_vain)

    async def until(self, condition: Callable[[], bool]) -> None:
        async def is_met() -> bool:
            return condition()

        await eventually(is_met, bool)

    async def get(self, version: str) -> Package:
        return self.package

    async def hand_in(self, *sources: str, kind: str = "attempt") -> None:
        async with self.database.writing() as session:
            for source in sources:
                row = AttemptRow(
                    id=source,
                    user_id="ada",
                    problem="add_one",
                    version=self.package.version,
                    kind=kind,
                    source=source,
                    created_at=now(),
                )
                await self.queue.enqueue(session, row)

    async def change(self, attempt: str, **values: object) -> None:
        async with self.database.writing() as session:
            await session.execute(update(AttemptRow).where(AttemptRow.id == attempt).values(**values))

    async def status(self, attempt: str) -> str:
        async with self.database.reading() as session:
            return (await session.get_one(AttemptRow, attempt)).status

    async def ended(self, *attempts: str) -> list[str]:
        found = []
        for attempt in attempts:
            found.append(await eventually(partial(self.status, attempt), lambda status: status in ENDED))
        return found

    async def begun(self, number: int) -> None:
        await eventually(self._begun, lambda count: count >= number)

    async def _begun(self) -> int:
        return len(self.grader.began)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        work = asyncio.create_task(self.queue.work())
        yield
        self.grader.gate.set()
        await self.queue.stop()
        await asyncio.wait_for(work, 60)


async def eventually(read, fits: Callable[[object], bool]):
    async with asyncio.timeout(60):
        while not fits(found := await read()):
            await asyncio.sleep(0.01)
    return found


@pytest.fixture(autouse=True)
def seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_queue, "_WALLS_AGAIN_S", 600.0)


@pytest.fixture
async def database(tmp_path: Path, migrated_database: Path) -> AsyncIterator[Database]:
    file = shutil.copy(migrated_database, tmp_path / "queue.sqlite3")
    database = Database(URL.create("sqlite+aiosqlite", database=str(file)))
    async with database.writing() as session:
        session.add(UserRow(id="ada", name="ada", role="student", created_at=now()))
    yield database
    await database.close()


@pytest.fixture
def bench(database: Database, package: Package) -> Callable[..., Bench]:
    def make(grader: Gate | None = None, *, wall_up: bool = True, **options: object) -> Bench:
        return Bench(database, package, grader or Gate(), WallState(up=wall_up), **options)

    return make


async def test_a_commit_wakes_a_slot_that_waits(bench):
    queue = bench()
    async with queue.working():
        await queue.looked_in_vain(after=0)
        await queue.hand_in("one")
        assert await queue.ended("one") == ["finished"]
        await queue.looked_in_vain(after=1)
        await queue.hand_in("two", "three")
        assert await queue.ended("two", "three") == ["finished"] * 2
    assert Counter(queue.grader.began) == {"one": 1, "two": 1, "three": 1}


async def test_two_slots_grade_two_attempts_at_once(bench):
    queue = bench(Gate(is_open=False), slots=2)
    async with queue.working():
        await queue.hand_in("one", "two", "three")
        await queue.begun(2)
        queue.grader.gate.set()
        assert await queue.ended("one", "two", "three") == ["finished"] * 3
    assert queue.grader.at_once == 2
    assert Counter(queue.grader.began) == {"one": 1, "two": 1, "three": 1}


async def test_rejudges_never_take_the_last_of_several_slots(bench):
    queue = bench(Gate(is_open=False), slots=2)
    async with queue.working():
        await queue.hand_in("old", "older", kind="rejudge")
        await queue.begun(1)
        await queue.looked_in_vain(after=1)
        assert len(queue.grader.began) == 1
        await queue.hand_in("new")
        await queue.begun(2)
        assert "new" in queue.grader.began


async def test_a_single_slot_takes_rejudges_too(bench):
    queue = bench()
    async with queue.working():
        await queue.hand_in("old", kind="rejudge")
        assert await queue.ended("old") == ["finished"]


async def test_a_cancelled_attempt_is_announced_and_one_that_ended_is_not_cancelled(bench):
    queue = bench(Gate(is_open=False))
    async with queue.working():
        await queue.hand_in("running", "waiting")
        await queue.begun(1)
        for attempt in ("waiting", "running"):
            assert await queue.queue.cancel(attempt)
            assert queue.changes[-1] == (attempt, "cancelled")
            assert not await queue.queue.cancel(attempt)
        assert [each for each in queue.changes if each[1] == "cancelled"] == [
            ("waiting", "cancelled"),
            ("running", "cancelled"),
        ]
        queue.grader.gate.set()
        await queue.hand_in("next")
        assert await queue.ended("next") == ["finished"]
    assert queue.grader.began == ["running", "next"]


async def test_a_failed_try_is_repeated_when_it_is_due(bench):
    queue = bench(Gate(fails=1), retry_s=0.2)
    async with queue.working():
        await queue.hand_in("one")
        assert await queue.ended("one") == ["finished"]
    assert queue.grader.began == ["one", "one"]


async def test_a_busy_database_does_not_end_a_slot(bench, monkeypatch):
    queue = bench()
    take, failures = queue.slots.take, ["locked"]

    async def busy(**options):
        if failures:
            raise OSError(failures.pop())
        return await take(**options)

    monkeypatch.setattr(queue.slots, "take", busy)
    async with queue.working():
        await queue.hand_in("one")
        assert await queue.ended("one") == ["finished"]
    assert failures == []


async def test_a_start_is_repeated_until_the_rows_of_dead_workers_are_back(bench, monkeypatch):
    queue = bench()
    rescue, calls = queue.slots.rescue, []

    async def locked(session, **options):
        calls.append(options)
        if len(calls) == 1:
            raise OSError("locked")
        return await rescue(session, **options)

    monkeypatch.setattr(queue.slots, "rescue", locked)
    await queue.hand_in("one")
    await queue.change("one", status="running", lease_until=now() + timedelta(hours=1))
    async with queue.working():
        assert await queue.ended("one") == ["finished"]
    assert calls[:2] == [{"everything": True}] * 2


async def test_a_rescued_row_is_graded_as_soon_as_it_is_due(bench):
    """After the wait of its third try, when the slots have looked for work long ago."""
    queue = bench(retry_s=0.05)
    await queue.hand_in("one")
    await queue.change("one", status="running", tries=2, lease_until=now() + timedelta(hours=1))
    async with queue.working():
        assert await queue.ended("one") == ["finished"]


async def test_a_row_that_another_process_may_be_grading_is_left_alone(bench):
    queue = bench(sole=False)
    await queue.hand_in("theirs", "ours")
    await queue.change("theirs", status="running", lease_until=now() + timedelta(hours=1))
    async with queue.working():
        assert await queue.ended("ours") == ["finished"]
        assert await queue.status("theirs") == "running"
    assert queue.grader.began == ["ours"]


async def test_a_process_that_stalled_past_its_leases_does_not_declare_its_own_gradings_dead(bench):
    queue = bench(Gate(is_open=False), sole=False)
    async with queue.working():
        await queue.hand_in("one")
        await queue.begun(1)
        # As when the machine stalls: nothing extended the lease, and the look for dead workers comes first.
        past = now() - timedelta(minutes=1)
        async with queue.database.writing() as session:
            await session.execute(update(AttemptRow).values(lease_until=past))
            assert await queue.slots.rescue(session) == 0
        queue.grader.gate.set()
        assert await queue.ended("one") == ["finished"]
    assert queue.grader.began == ["one"]


async def test_the_row_of_a_worker_that_died_later_is_graded(bench, monkeypatch, caplog):
    queue = bench(sole=False)
    quicken(monkeypatch, 100_000)
    rescue, calls = queue.slots.rescue, []

    async def once_locked(session, **options):
        calls.append(options["everything"])
        if len(calls) == 2:
            raise OSError("locked")
        return await rescue(session, **options)

    monkeypatch.setattr(queue.slots, "rescue", once_locked)
    await queue.hand_in("one")
    await queue.change("one", status="running", lease_until=now() + timedelta(hours=1))
    async with queue.working():
        # At the start, when the database was locked, and again: never those of workers that may live.
        await queue.until(lambda: len(calls) > 3)
        assert queue.grader.began == []
        await queue.change("one", lease_until=now() - timedelta(seconds=1))
        assert await queue.ended("one") == ["finished"]
    assert set(calls) == {False}
    assert "work queued again because its worker died: 1" in caplog.text


async def test_nothing_is_graded_without_walls_and_what_waits_is_graded_once_they_are_up(bench, monkeypatch):
    quicken(monkeypatch, 60_000)
    queue = bench(wall_up=False)
    async with queue.working():
        await queue.hand_in("one")
        probes = queue.probes
        # The slots are woken after each.
        await queue.until(lambda: queue.probes > probes + 2)
        assert queue.grader.began == []
        queue.wall.up = True
        assert await queue.ended("one") == ["finished"]


async def test_a_shutdown_lets_a_grading_finish_within_its_grace(bench):
    queue = bench(Gate(is_open=False))
    async with queue.working():
        await queue.hand_in("running", "waiting")
        await queue.begun(1)
        stopping = asyncio.create_task(queue.queue.stop(grace_s=30))
        await queue.until(queue.queue._stopping.is_set)
        queue.grader.gate.set()
        await asyncio.wait_for(stopping, 60)
        assert await queue.status("running") == "finished"
        assert await queue.status("waiting") == "queued"
    assert queue.grader.began == ["running"]


async def test_a_shutdown_without_grace_returns_the_attempt(bench):
    queue = bench(Gate(is_open=False))
    async with queue.working():
        await queue.hand_in("running")
        await queue.begun(1)
        await asyncio.wait_for(queue.queue.stop(), 60)
        assert await queue.status("running") == "queued"


async def test_a_queue_that_is_stopped_before_it_could_start_ends(bench, monkeypatch):
    queue = bench()

    calls = []

    async def locked(session, **_):
        calls.append(session)
        raise OSError("locked")

    monkeypatch.setattr(queue.slots, "rescue", locked)
    async with queue.working():
        await queue.hand_in("one")
        await queue.until(lambda: bool(calls))
    assert await queue.status("one") == "queued"
