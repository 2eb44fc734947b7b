"""Questions are drawn when they can be: at once after any success of the grader, and not while a failure is recent."""

from collections.abc import Callable
from typing import Any

import pytest

from app.authoring import question_drawing
from app.authoring.question_drawing import QuestionDrawing
from app.grading.queue.null_grader import NullGrader
from grader.answers.question_variants import Variants
from grader.core.context import QUIET, Context
from grader.core.errors import Cancelled
from grader.package.package import Package
from tests.grader.shipped_submissions import package

pytestmark = pytest.mark.anyio


class Drawer(NullGrader):
    def __init__(self) -> None:
        self.asked = 0
        self.prepared: list[bool] = []

    def prepare(self, package: Package, context: Context = QUIET, *, background: bool = False) -> None:
        self.prepared.append(background)
        raise Cancelled("a submission needs the same")

    def variants(self, package: Package, context: Context = QUIET) -> Variants | None:
        self.asked += 1
        return Variants("key", ())


async def test_a_preparation_that_succeeded_elsewhere_is_drawn_from_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = package("read_the_hlo_1")
    kept: list[str] = []

    async def missing(database: Any, known: Any) -> list[str]:
        return [] if kept else [asked.version]

    async def keep(database: Any, version: str, questions: Variants) -> None:
        kept.append(version)

    class Packages:
        async def get(self, version: str) -> Package:
            return asked

    async def in_thread(call: Callable[[], Variants | None]) -> Variants | None:
        return call()

    monkeypatch.setattr(question_drawing, "published_without", missing)
    monkeypatch.setattr(question_drawing, "store_questions", keep)
    grader = Drawer()
    drawer = QuestionDrawing(None, grader, Packages(), in_thread)  # type: ignore[arg-type]
    grader.setbacks.failed(asked.version, "questions.py failed: time_limit")
    await drawer.draw(QUIET)
    assert (grader.asked, kept) == (0, [])
    grader.setbacks.succeeded(asked.version)
    await drawer.draw(QUIET)
    assert (grader.asked, kept) == (1, [asked.version])
    # It gives way to submissions.
    assert grader.prepared == [True]
