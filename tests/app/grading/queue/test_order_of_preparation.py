"""What a start prepares. A submission's own preparation is not lost."""

import threading
from types import SimpleNamespace

import pytest

from app.grading.queue.preparation import Preparer
from app.grading.queue.walls import Walls
from grader.core.errors import Cancelled
from grader.sandbox.retry_backoff import RetryBackoff

pytestmark = pytest.mark.anyio


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
    return SimpleNamespace(slug=slug, identity=slug, manifest=manifest)


async def prepare(grader: Grader, *slugs: str, at_once: int = 1, **options: float) -> list[str]:
    said: list[str] = []
    walls = Walls(lambda: [SimpleNamespace(name="all", up=True, found="", remedy="")])
    walls.probe()
    preparing = Preparer(grader, walls, said.append, at_once=at_once, **options)
    await preparing.run([problem(slug) for slug in slugs])
    assert not preparing.state().is_in_progress
    return said


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


async def test_a_start_stops_when_its_cpu_time_is_spent(monkeypatch):
    """The first submission to each other problem runs its reference. What takes longest comes first."""
    grader = Grader()
    monkeypatch.setattr("app.grading.queue.preparation.cpu_s_below", lambda root: 100.0 + 40 * len(grader.asked))
    said = await prepare(grader, "a", "b", "large", "c", "d", cpu_s=100)
    assert grader.asked == ["reference of large", "reference of a", "reference of b"]
    assert said[-1] == "2 problems are prepared by their first submission."
