"""Run the programs of a lesson in the sandbox, each alone, and compile those that the Explorer opens.

`python -m tests.prove` starts it (tests/prove/measuring.py).
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.learning.lessons.lesson import Block, Explorable, Lesson
from app.learning.lessons.lesson_files import Lessons
from grader.core.context import QUIET
from grader.explorer.description import explored
from grader.explorer.script import run_script
from grader.modes.program.function_inspection import inspect_function
from grader.sandbox.build import PooledSandbox, build_sandbox
from grader.sandbox.pool import PoolSettings

_LESSONS = Path(__file__).parents[2] / "lessons"


@contextmanager
def prepared() -> Iterator[PooledSandbox]:
    """The sandbox that all lessons share."""
    settings = PoolSettings(generic=2, per_problem=1, problems=1)
    with tempfile.TemporaryDirectory() as folder, build_sandbox(Path(folder), settings=settings) as built:
        yield built


def measure(slug: str, walls: PooledSandbox) -> dict[str, Any]:
    """What each program prints, and the collectives that the Explorer finds in each that explore.toml names."""
    lesson = Lessons.load(_LESSONS).get(slug)
    return {
        "printed": [_printed(block, walls) for block in lesson.blocks],
        "explored": {each.title: _explored(lesson, each, walls) for each in lesson.explorable},
    }


def _printed(block: Block, walls: PooledSandbox) -> dict[str, Any]:
    found = run_script(block.code, walls, QUIET)
    # What the sandbox denies is of interest only where nothing should be denied.
    of_interest = {"reason", "message", "line"} if block.runs_here else {"reason", "line"}
    fault = found.fault.model_dump(mode="json", include=of_interest) if found.fault else None
    return {"stdout": found.stdout, "truncated": found.truncated, "fault": fault}


def _explored(lesson: Lesson, each: Explorable, walls: PooledSandbox) -> dict[str, Any]:
    source = lesson.blocks[each.program - 1].code
    [program] = explored((inspect_function(each.function, walls, source, QUIET),)).programs
    found = [
        f"{one.collective} over {' and '.join(one.axes or ())}{', in a loop' if one.in_loop else ''}"
        for one in program.collectives
    ]
    return {
        "collectives": list(dict.fromkeys(found)),
        "has_lines": any(one.line for one in program.collectives),
    }
