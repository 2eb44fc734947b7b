"""The Explorer compiles each program that a lesson's explore.toml names, and finds the collectives that it expects.

A run looks at one lesson in eight, and at those that the last commit changed (tests/parts.py).
"""

from collections.abc import Iterator

import pytest

from app.learning.lessons.lesson import Lesson
from grader.core.context import QUIET
from grader.explorer.description import explored
from grader.modes.program.function_inspection import inspect_function
from grader.sandbox.build import PooledSandbox, build_sandbox
from grader.sandbox.pool import PoolSettings
from tests.lessons.shipped_lessons import BY_SLUG
from tests.parts import chosen, parameters
from tests.unchanged import EXPLORED, due

LOOKED_AT = chosen(
    [slug for slug, lesson in BY_SLUG.items() if lesson.explorable],
    lambda slug: (f"lessons/{slug}/",),
    shared=(
        "grader/inputs/explored_function.py",
        "grader/modes/program/function_inspection.py",
        "grader/runner/",
        "uv.lock",
    ),
    is_due=due(EXPLORED),
)


@pytest.fixture(scope="module")
def walls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PooledSandbox]:
    with build_sandbox(tmp_path_factory.mktemp("sandbox"), settings=PoolSettings(per_problem=1, problems=1)) as built:
        yield built


@pytest.mark.parametrize("lesson", parameters([BY_SLUG[slug] for slug in LOOKED_AT]), ids=lambda lesson: lesson.slug)
def test_the_explorer_compiles_the_programs_of_a_lesson(lesson: Lesson, walls: PooledSandbox) -> None:
    for each in lesson.explorable:
        source = lesson.blocks[each.program - 1].code
        [program] = explored((inspect_function(each.function, walls, source, QUIET),)).programs
        found = [
            f"{one.collective} over {' and '.join(one.axes or ())}{', in a loop' if one.in_loop else ''}"
            for one in program.collectives
        ]
        assert list(dict.fromkeys(found)) == list(each.expected), each.title
        assert any(one.line for one in program.collectives), each.title
