"""A lesson's claims are measured again, and its programs print what the page says.

A run measures one lesson in eight, and those that the last commit changed (tests/parts.py).
"""

from typing import Any

import pytest

from app.learning.lessons.lesson import Lesson
from app.learning.lessons.lesson_files import Lessons
from tests.lessons.write_claims import LESSONS, measure
from tests.parts import chosen
from tests.problems.on_8_devices import STATEMENT_PROGRAMS, run_on_8_devices

# tests/slow_tests.py: a module with this name starts a compiler.
__all__ = ["run_on_8_devices"]
pytestmark = STATEMENT_PROGRAMS
SHIPPED = {lesson.slug: lesson for lesson in Lessons.load(LESSONS).all()}
MEASURED = chosen(
    list(SHIPPED),
    lambda slug: (f"lessons/{slug}/",),
    shared=("tests/lessons/", "tests/problems/measured_programs.py", "uv.lock"),
)


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return measure(MEASURED)


@pytest.mark.parametrize("lesson", [SHIPPED[slug] for slug in MEASURED], ids=lambda lesson: lesson.slug)
def test_the_claims_are_what_is_measured(lesson: Lesson, found: dict[str, Any]) -> None:
    """If the new numbers are right: python -m tests.lessons.write_claims SLUG, and then read the lesson again."""
    written, measured = lesson.claims.model_dump(), found["claims"][lesson.slug]
    assert (written["jax"], written["devices"]) == (measured["jax"], measured["devices"])
    different = {
        name: f"claims.json has {written['by_name'].get(name)}, measured was {measured['by_name'].get(name)}"
        for name in written["by_name"] | measured["by_name"]
        if written["by_name"].get(name) != measured["by_name"].get(name)
    }
    assert different == {}


@pytest.mark.parametrize("lesson", [SHIPPED[slug] for slug in MEASURED], ids=lambda lesson: lesson.slug)
def test_the_programs_print_what_the_lesson_shows(lesson: Lesson, found: dict[str, Any]) -> None:
    ran = found["programs"][lesson.slug]
    assert [each["error"] for each in ran] == [None] * len(lesson.blocks)
    assert [each["printed"] for each in ran] == [block.output for block in lesson.blocks]


@pytest.mark.parametrize("slug", MEASURED)
def test_generated_figures_are_what_is_drawn_now(slug: str, found: dict[str, Any]) -> None:
    drawn = found["figures"].get(slug, {})
    figures = LESSONS / slug / "figures"
    assert {name: (figures / name).read_text(encoding="utf-8") for name in drawn} == drawn
