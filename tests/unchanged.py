"""Leave out slow work if nothing that it depends on has changed since the base of the run (tests/parts.py).

`WORK` says what each kind of work depends on, as prefixes of paths. `./meshgrade test` prints what it leaves out. As
the legs of CI do, each kind also runs for one commit in eight, so a dependency that is missing here is noticed.
Everything runs if Git does not know the base, with `--all` and `--part`, if the tests to run are named, and if pytest
is called without `./meshgrade test`. `tests/test_unchanged.py` compares the table with what the tests import.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from tests.parts import PARTS, base, changed, turn_of_commit

# Set by `./meshgrade test` if the commit has chosen the part.
ONLY_CHANGED = "MESHGRADE_TEST_ONLY_CHANGED"
# What every test depends on.
_COMMON = (
    *("uv.lock", "pyproject.toml", "meshgrade", "tests/conftest.py", "tests/parts.py", "tests/unchanged.py"),
    *("tests/slow_tests.py", "tests/hung_tests.py", "tests/folder_times.py", "tests/cpu_budget.py", "tests/faults.py"),
)
_JUDGE = ("grader/", "tests/grader/conftest.py", *_COMMON)
_LESSONS = ("grader/", "app/__init__.py", "app/core/", "app/learning/__init__.py", "app/learning/lessons/")
# What the Explorer shows of the grader's results.
_DRAWN = (
    *("app/__init__.py", "app/core/__init__.py", "app/core/web/__init__.py", "app/core/web/drawings/"),
    *("app/core/web/program_evidence.py", "app/learning/__init__.py", "app/learning/explorer/"),
)


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of slow work.

    Args:
      tests: prefixes of the paths of the tests that do it.
      depends: prefixes of the paths that can change its outcome, except an item's own files if items take turns.
      whole: whether all of these tests that are slow are left out, instead of an eighth of the items.
    """

    tests: tuple[str, ...]
    depends: tuple[str, ...]
    whole: bool = False


SUBMISSIONS, NUMBERS, GUIDES, ATTACKS = "submissions", "numbers in texts", "pages of the documentation", "attacks"
CLAIMS, PRINTED, EXPLORED = "claims of lessons", "output of lessons' programs", "programs of lessons in the Explorer"
WORK = {
    SUBMISSIONS: Work(
        ("tests/grader/test_program_verdicts.py", "tests/grader/test_call_verdicts.py"),
        (*_JUDGE, "tests/grader/shipped_submissions.py", "tests/grader/shipped_verdicts.py", "tests/grader/test_"),
    ),
    "slow tests of the grader": Work(
        ("tests/grader/",),
        (*_JUDGE, *_DRAWN, "tests/grader/", "tests/problems/", "problems/", "docs/bring_your_own.md"),
        whole=True,
    ),
    ATTACKS: Work(
        ("tests/hostile/",), (*_JUDGE, "tests/hostile/", "tests/grader/packages/", "docs/attacks.md"), whole=True
    ),
    "programs of statements": Work(
        tuple(f"tests/problems/test_{name}.py" for name in ("statement_programs", "one_network", "fsdp_step_cases")),
        (*_JUDGE, "tests/grader/", "tests/problems/", "problems/"),
        whole=True,
    ),
    NUMBERS: Work(("tests/problems/test_numbers.py",), (*_JUDGE, "tests/grader/shipped", "tests/problems/")),
    CLAIMS: Work(
        ("tests/lessons/test_claims.py",), (*_LESSONS, *_COMMON, "tests/lessons/", "tests/problems/", "problems/")
    ),
    EXPLORED: Work(("tests/lessons/test_explorable.py",), (*_LESSONS, *_COMMON, "tests/lessons/", "tests/problems/")),
    PRINTED: Work(
        ("tests/lessons/test_programs_in_the_sandbox.py",),
        (*_LESSONS, *_COMMON, "app/accounts/", "app/grading/", "tests/lessons/", "tests/problems/"),
    ),
    GUIDES: Work(
        ("tests/docs/test_commands.py",),
        (*_COMMON, "app/", "grader/", "migrations/", "benchmarks/", "problems/", "tests/docs/", "tests/app/"),
    ),
}
# Slow tests of a `whole` kind that depend on more than it says. They always run.
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


@cache
def due(name: str) -> bool:
    """Whether this run does its part of this work, and not only what changed."""
    if not os.environ.get(ONLY_CHANGED) or base() is None:
        return True
    if turn_of_commit() == list(WORK).index(name) % PARTS + 1:
        return True
    return any(path.startswith(WORK[name].depends) for path in changed())


def reasons() -> Iterator[str]:
    """A line for each kind of work that this run leaves out."""
    for name, work in WORK.items():
        if not due(name):
            items = "" if work.whole else ", except what itself changed"
            yield (
                f"Left out: {name}{items}, because nothing that decides the outcome has changed since {base()}: "
                f"{', '.join(work.depends)}. With --all or --part, and for one commit in eight, it runs."
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
        work.whole and file.startswith(work.tests) and file not in ALWAYS and not due(name)
        for name, work in WORK.items()
    )
