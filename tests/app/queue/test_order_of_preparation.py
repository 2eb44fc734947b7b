"""The order in which a start prepares problems. A submission's own preparation is not lost."""

import threading
from types import SimpleNamespace

import pytest

from app.queue.preparing import Preparing
from app.queue.walls import Walls
from grader.errors import Cancelled
from grader.sandbox.setbacks import Setbacks

pytestmark = pytest.mark.anyio


class Grader:
    """Records each request; `faults` are raised, each once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.faults: dict[str, Exception] = {}
        self.setbacks = Setbacks()

    def prepare(self, package, context, *, background) -> None:
        assert background
        self._note(f"reference of {package.slug}")

    def prepare_known(self, package, context) -> None:
        self._note(f"mistakes of {package.slug}")

    def _note(self, what: str) -> None:
        self.asked.append(what)
        if fault := self.faults.pop(what, None):
            raise fault


async def prepare(grader: Grader, *slugs: str, at_once: int = 1) -> list[str]:
    said: list[str] = []
    walls = Walls(lambda: [SimpleNamespace(name="all", up=True, found="", remedy="")])
    walls.probe()
    preparing = Preparing(grader, walls, said.append, at_once=at_once)
    await preparing.run([SimpleNamespace(slug=slug, version=slug) for slug in slugs])
    return said


async def test_every_reference_comes_before_any_mistake():
    grader = Grader()
    said = await prepare(grader, "a", "b")
    assert grader.asked == ["reference of a", "reference of b", "mistakes of a", "mistakes of b"]
    assert said == ["a is ready.", "b is ready.", "All problems are prepared."]


async def test_what_a_submission_made_itself_is_ready_too():
    grader = Grader()
    grader.faults["reference of a"] = Cancelled("a submission needed it at once")
    assert "a is ready." in await prepare(grader, "a")
    assert grader.asked == ["reference of a", "reference of a", "mistakes of a"]


async def test_references_come_side_by_side_and_mistakes_do_not():
    together = threading.Barrier(2, timeout=30)

    class Two(Grader):
        def prepare(self, package, context, *, background) -> None:
            super().prepare(package, context, background=background)
            together.wait()

    grader = Two()
    await prepare(grader, "a", "b", "c", "d", at_once=2)
    assert sorted(grader.asked[:4]) == ["reference of a", "reference of b", "reference of c", "reference of d"]
    assert grader.asked[4:] == ["mistakes of a", "mistakes of b", "mistakes of c", "mistakes of d"]
