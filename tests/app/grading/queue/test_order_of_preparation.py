"""What a start prepares. A submission's own preparation is not lost."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from app.grading.queue.preparation import Preparer
from app.grading.queue.walls import Walls
from grader.core.errors import Cancelled
from grader.sandbox.retry_backoff import RetryBackoff

pytestmark = pytest.mark.anyio
ALL = "All problems are prepared."


class News(list[str]):
    async def until(self, words: str) -> None:
        async with asyncio.timeout(60):
            while words not in self:
                await asyncio.sleep(0.01)


class Grader:
    """Records each request; `faults` are raised, each once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.faults: dict[str, Exception] = {}
        self.setbacks = RetryBackoff()

    def prepare(self, package, context, *, background) -> None:
        assert background
        self._note(f"reference of {package.slug}")

    def _note(self, what: str) -> None:
        self.asked.append(what)
        if fault := self.faults.pop(what, None):
            raise fault


def problem(slug: str) -> SimpleNamespace:
    full_size = object() if slug.startswith("large") else None
    manifest = SimpleNamespace(mode="program", variants=(), program=SimpleNamespace(full_size=full_size))
    return SimpleNamespace(slug=slug, version=slug, identity=slug, manifest=manifest)


def preparer(grader: Grader, said: list[str], **options: float) -> Preparer:
    walls = Walls(lambda: [SimpleNamespace(name="all", up=True, found="", remedy="")])
    walls.probe()
    return Preparer(grader, walls, said.append, **options)


async def prepare(grader: Grader, *slugs: str, **options: float) -> list[str]:
    said: list[str] = []
    preparing = preparer(grader, said, **options)
    await preparing.start([problem(slug) for slug in slugs])
    assert not preparing.state().is_in_progress
    return said


@pytest.fixture
def spend_40_s_each(monkeypatch):
    def spend(grader: Grader) -> None:
        monkeypatch.setattr("app.grading.queue.preparation.cpu_s_below", lambda root: 100.0 + 40 * len(grader.asked))

    return spend


async def test_a_start_prepares_every_reference_and_nothing_else():
    grader = Grader()
    said = await prepare(grader, "a", "b")
    assert grader.asked == ["reference of a", "reference of b"]
    assert said == ["a is ready.", "b is ready.", "All problems are prepared."]


async def test_what_a_submission_made_itself_is_ready_too():
    grader = Grader()
    grader.faults["reference of a"] = Cancelled("a submission needed it at once")
    assert "a is ready." in await prepare(grader, "a")
    assert grader.asked == ["reference of a", "reference of a"]


async def test_references_come_side_by_side():
    together = threading.Barrier(2, timeout=60)

    class Two(Grader):
        def prepare(self, package, context, *, background) -> None:
            super().prepare(package, context, background=background)
            together.wait()

    grader = Two()
    await prepare(grader, "a", "b", "c", "d", at_once=2)
    assert sorted(grader.asked) == ["reference of a", "reference of b", "reference of c", "reference of d"]


async def test_a_start_stops_when_its_cpu_time_is_spent(spend_40_s_each):
    """The others are left until they are needed. What takes longest comes first."""
    grader = Grader()
    spend_40_s_each(grader)
    said = await prepare(grader, "a", "b", "large", "c", "d", cpu_s=100)
    assert grader.asked == ["reference of large", "reference of a", "reference of b"]
    assert said[-1] == "2 problems are prepared when they are first needed."


async def test_who_opens_a_problem_has_it_prepared_once(spend_40_s_each, monkeypatch):
    """The last one that was opened comes first. When nothing is left to do, unused memory goes back to the system."""
    grader, said, trims = Grader(), News(), News()
    monkeypatch.setattr("app.grading.queue.preparation.trim", lambda: trims.append(str(len(grader.asked))))
    spend_40_s_each(grader)
    preparing = preparer(grader, said, cpu_s=30)
    running = asyncio.create_task(preparing.run([problem(slug) for slug in "abcd"]))
    await said.until("3 problems are prepared when they are first needed.")
    assert (preparing.state().waiting, preparing.state().later) == (0, 3)
    for slug in (*"bc" * 1000, "a"):
        preparing.ask(problem(slug))
    assert (preparing.state().waiting, preparing.state().later) == (2, 1)
    await said.until("b is ready.")
    assert grader.asked == [f"reference of {slug}" for slug in "acb"]
    assert not preparing.state().waiting
    assert ALL not in said
    # A version that was published since the start counts, too.
    for slug in "de":
        preparing.ask(problem(slug))
    await said.until(ALL)
    assert sorted(grader.asked[3:]) == ["reference of d", "reference of e"]
    await trims.until("5")
    assert trims == ["1", "3", "5"]
    preparing.stop()
    running.cancel()


async def test_what_somebody_opens_during_the_start_comes_next(spend_40_s_each):
    opened = threading.Event()

    class First(Grader):
        def prepare(self, package, context, *, background) -> None:
            super().prepare(package, context, background=background)
            assert opened.wait(60)

    grader, said = First(), News()
    spend_40_s_each(grader)
    preparing = preparer(grader, said, cpu_s=50)
    running = asyncio.create_task(preparing.run([problem(slug) for slug in "abcd"]))
    async with asyncio.timeout(60):
        while not grader.asked:
            await asyncio.sleep(0.01)
    preparing.ask(problem("c"))
    preparing.ask(problem("d"))
    opened.set()
    await said.until("c is ready.")
    assert grader.asked == [f"reference of {slug}" for slug in "adc"]
    assert preparing.state().later == 1
    preparing.stop()
    running.cancel()
