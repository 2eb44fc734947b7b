"""Each program of a lesson prints in the sandbox what the lesson shows.

A run looks at one lesson in eight, and at those that the last commit changed (tests/parts.py).
"""

from collections.abc import Iterator

import pytest

from app.learning.lessons.lesson import Lesson
from app.learning.lessons.runs import prints_the_same
from grader.core.context import QUIET
from grader.explorer.script import run_script
from grader.sandbox.build import PooledSandbox, build_sandbox
from grader.sandbox.pool import PoolSettings
from tests.lessons.shipped_lessons import BY_SLUG
from tests.parts import chosen, parameters
from tests.unchanged import PRINTED, due

LOOKED_AT = chosen(
    list(BY_SLUG),
    lambda slug: (f"lessons/{slug}/",),
    shared=("grader/explorer/script.py", "grader/runner/", "uv.lock"),
    is_due=due(PRINTED),
)


@pytest.fixture(scope="module")
def walls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PooledSandbox]:
    with build_sandbox(tmp_path_factory.mktemp("sandbox"), settings=PoolSettings(generic=2)) as built:
        yield built


@pytest.mark.parametrize("lesson", parameters([BY_SLUG[slug] for slug in LOOKED_AT]), ids=lambda lesson: lesson.slug)
def test_a_program_prints_in_the_sandbox_what_the_lesson_shows(lesson: Lesson, walls: PooledSandbox) -> None:
    for block in lesson.blocks:
        printed = run_script(block.code, walls, QUIET)
        assert printed.fault is None
        assert printed.stdout == block.output
        assert prints_the_same(printed, block) is (True if block.output else None)
