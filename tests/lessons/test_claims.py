"""A lesson's claims are measured again, and its programs print what the page says.

A run measures one lesson in eight, and those that the last commit changed (tests/parts.py).
"""

from typing import Any

import pytest

from app.learning.lessons.lesson import Lesson
from tests.lessons.shipped_lessons import BY_SLUG
from tests.lessons.write_claims import LESSONS, measure
from tests.parts import chosen, parameters
from tests.problems.on_8_devices import STATEMENT_PROGRAMS, run_on_8_devices
from tests.unchanged import CLAIMS, due

# tests/slow_tests.py: a module with this name starts a compiler.
__all__ = ["run_on_8_devices"]
# In the first test, up to all lessons are measured, one after the other.
pytestmark = [STATEMENT_PROGRAMS, pytest.mark.timeout(900)]
MEASURED = chosen(
    list(BY_SLUG),
    lambda slug: (f"lessons/{slug}/",),
    shared=("tests/lessons/", "tests/problems/measured_programs.py", "uv.lock"),
    is_due=due(CLAIMS),
)


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return measure(MEASURED)


@pytest.mark.parametrize("lesson", parameters([BY_SLUG[slug] for slug in MEASURED]), ids=lambda lesson: lesson.slug)
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


@pytest.mark.parametrize("lesson", parameters([BY_SLUG[slug] for slug in MEASURED]), ids=lambda lesson: lesson.slug)
def test_the_programs_print_what_the_lesson_shows(lesson: Lesson, found: dict[str, Any]) -> None:
    ran = found["programs"][lesson.slug]
    assert [each["error"] for each in ran] == [None] * len(lesson.blocks)
    assert [each["printed"] for each in ran] == [block.output for block in lesson.blocks]


@pytest.mark.parametrize("slug", parameters(MEASURED))
def test_generated_figures_are_what_is_drawn_now(slug: str, found: dict[str, Any]) -> None:
    drawn = found["figures"].get(slug, {})
    figures = LESSONS / slug / "figures"
    assert {name: (figures / name).read_text(encoding="utf-8") for name in drawn} == drawn
