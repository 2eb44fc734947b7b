"""Leave out slow work if nothing that it depends on has changed since the base of the run (tests/selection.py).

`WORK` says what each kind of work depends on, as prefixes of paths. `./meshgrade test` prints what it leaves out.
Everything runs if Git does not know the base, with `--all`, if the tests to run are named, and if pytest is called
without `./meshgrade test`. `tests/test_unchanged.py` compares the table with what the tests import.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.selection import base, has_changed

# Set by `./meshgrade test` for a complete run.
ONLY_CHANGED = "MESHGRADE_TEST_ONLY_CHANGED"
# What every test depends on.
_COMMON = (
    *("uv.lock", "pyproject.toml", "meshgrade", "tests/conftest.py", "tests/selection.py", "tests/unchanged.py"),
    *("tests/slow_tests.py", "tests/hung_tests.py", "tests/folder_times.py", "tests/cpu_budget.py"),
    *("tests/failures.py", "tests/faults.py", "tests/serial_tests.py"),
)
_JUDGE = ("grader/", "tests/grader/conftest.py", *_COMMON)
# What the Explorer shows of the grader's results.
_DRAWN = (
    *("app/__init__.py", "app/core/__init__.py", "app/core/web/__init__.py", "app/core/web/svg.py"),
    *("app/core/web/units.py", "app/presentation/__init__.py", "app/presentation/drawings/"),
    *(
        f"app/presentation/{name}.py"
        for name in (
            *("chip_view", "fault_views", "graph_view", "memory_view", "program_evidence", "program_tables"),
            *("sent_bytes", "table", "totals"),
        )
    ),
    *("app/learning/__init__.py", "app/learning/explorer/"),
)
# What a page that a learner uses is made of. Its templates and styles are in its room.
_PAGES = (
    *("app/__init__.py", "app/accounts/", "app/core/", "app/entry/", "app/grading/", "app/learning/"),
    *("app/presentation/", "app/problems/"),
    *("docs/", "frontend/", "lessons/", "migrations/", "problems/", "tests/app/", "tests/browser/", "tests/grader/"),
    *("tests/import_closure.py", "tests/lessons/", "tests/problems/", *_JUDGE),
)
# What an answer of the service may be made of.
_SERVICE = (
    *("app/", "docs/", "lessons/", "migrations/", "problems/", "tests/app/", "tests/grader/", "tests/problems/"),
    *_JUDGE,
)


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of slow work.

    Args:
      tests: prefixes of the paths of the tests that do it. Those that are slow are left out.
      depends: prefixes of the paths that can change its outcome.
    """

    tests: tuple[str, ...]
    depends: tuple[str, ...]


ATTACKS = "attacks"
LEARNERS = "journeys of learners in the browser"
SERVICE = "journeys through the whole service in the browser"
COMMANDS = "commands that compile, judge and serve, and checks of variants"
WALKS = "walks of all routes during an exam"
WORK = {
    "slow tests of the grader": Work(
        ("tests/grader/",),
        (
            *_JUDGE,
            *_DRAWN,
            "tests/grader/",
            "tests/growth.py",
            "tests/problems/",
            "problems/",
            "docs/bring_your_own.md",
        ),
    ),
    ATTACKS: Work(("tests/hostile/",), (*_JUDGE, "tests/hostile/", "tests/grader/packages/", "docs/attacks.md")),
    "programs of statements": Work(
        tuple(f"tests/problems/test_{name}.py" for name in ("one_network", "fsdp_step_cases")),
        (*_JUDGE, "tests/grader/", "tests/problems/", "problems/"),
    ),
    # Every run looks at some pages, edits, submits, reads a verdict and its history, and answers a question.
    LEARNERS: Work(
        tuple(
            f"tests/browser/test_{name}.py"
            for name in ("calculators", "drafts", "explorer", "lessons", "live_picture", "newcomer", "panes")
        ),
        _PAGES,
    ),
    SERVICE: Work(
        tuple(
            f"tests/browser/test_{name}.py"
            for name in (
                *("exam_of_a_class", "explorer_on_tpus", "instructor", "misconception", "program_verdict"),
                "registration_window",
            )
        ),
        (*_PAGES, "app/"),
    ),
    COMMANDS: Work(
        (
            *(
                f"tests/app/entry/cli/test_{name}.py"
                for name in ("explore", "inspect", "problem_judged", "serve", "worker")
            ),
            "tests/app/authoring/test_check_of_variants.py",
            "tests/app/authoring/test_shipped_pictures.py",
        ),
        _SERVICE,
    ),
    WALKS: Work(
        tuple(f"tests/app/teaching/courses/test_{name}.py" for name in ("course_problems", "exam_everywhere")),
        _SERVICE,
    ),
}
# Slow tests of one of these kinds that depend on more than it says. They always run.
ALWAYS = frozenset(
    {
        "tests/grader/checks/call/test_value_parts.py",
        "tests/grader/explorer/test_own_program_values.py",
        "tests/grader/explorer/test_programs_to_start_from.py",
        "tests/grader/review/test_case_variety.py",
        "tests/grader/review/test_rules.py",
        "tests/grader/sandbox/test_proved_walls.py",
        "tests/grader/test_front_example.py",
    }
)


def due(name: str) -> bool:
    """Whether this run does this work."""
    return not os.environ.get(ONLY_CHANGED) or has_changed(*WORK[name].depends)


def reasons() -> Iterator[str]:
    """A line for each kind of work that this run leaves out."""
    for name, work in WORK.items():
        if not due(name):
            yield (
                f"Left out: {name}, because nothing that decides the outcome has changed since {base()}: "
                f"{', '.join(work.depends)}. With --all, it runs."
            )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "left_out: stands in for the items that a run leaves out")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if _is_left_out(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        chosen = {id(item) for item in left_out}
        items[:] = [item for item in items if id(item) not in chosen]


def _is_left_out(item: pytest.Item) -> bool:
    if item.get_closest_marker("left_out"):
        return True
    file = item.nodeid.partition("::")[0]
    return item.get_closest_marker("slow") is not None and any(
        file.startswith(work.tests) and file not in ALWAYS and not due(name) for name, work in WORK.items()
    )
