"""Find slow tests: those that start a sandbox, a browser, PostgreSQL, a compiler or their own service.

`./meshgrade test --quick` leaves them out (`-m "not slow"`). Tests are not marked by hand: one is slow because of a
fixture that it uses, an import of its module, or its folder. A test that starts one of these programs but does not
count as slow fails, and the message says what to add here.

It also orders what pytest-randomly has shuffled (see `order`), and keeps tests that share a fixture of their module in
one process (see `share_fixtures`).
"""

import os
import sys
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Fixtures that start something that takes seconds, or prepare for it.
FIXTURES = {
    "arena": "a sandbox",
    "backend": "processes that grade",
    "browser": "a browser",
    "judge": "a sandbox",
    "on_8_devices": "a compiler",
    "postgres_server": "PostgreSQL",
    "pytester": "a run of pytest",
    "sandbox": "a sandbox",
    "start_service": "a service for one test alone; those on `shared_service` are quick",
    "texts": "a compiler",
}
# Groups of tests that get `postgres_server` by name, for one of their parameters, and share a server.
GROUPS = {"contract", "postgresql"}
# Groups that take a minute or more.
LONGEST = ["docs", "bench", "contract", "browser 1", "browser 2", "browser 3", "postgresql"]
# Files with a test that takes half a minute or more. If it ran last, the other processes would wait for it.
LONG_TESTS = (
    "prove/test_measured_again.py",
    "app/core/rest/test_openapi_holds.py",
    "app/operations/operating/test_nothing_leaks.py",
    "app/core/web/test_bundle.py",
)
# Folders that are not shuffled: their tests share a service with its data, or inspect the machine one after another.
KEPT_IN_ORDER = ("browser", "hostile", "problems", "grader/modes")
# A module that has one of these as a global traces and compiles, or starts a sandbox or a service.
GLOBALS = {"build_sandbox", "jax", "jnp", "nnx", "optax", "run_on_8_devices", "serving"}
# Files and folders in tests/ whose tests start processes, measure how work grows, or fill databases.
PATHS = (
    "app/entry/cli/remote/test_solving.py",
    "app/entry/cli/test_local_judge.py",
    "app/entry/cli/test_doctor.py",
    "app/entry/cli/test_explore.py",
    "app/entry/cli/test_inspect.py",
    "app/entry/cli/test_problem_judged.py",
    "app/entry/cli/test_problem_preview.py",
    "app/entry/cli/test_reset_password.py",
    "app/entry/cli/test_worker.py",
    "app/entry/test_query_plans.py",
    "app/operations/operating/test_nothing_leaks.py",
    "app/operations/test_backup.py",
    "app/core/test_bounded_calls.py",
    "app/test_growth.py",
    "app/core/test_migrate.py",
    "app/core/web/test_bundle.py",
    "benchmarks/test_bench.py",
    "benchmarks/test_fault_injection.py",
    "benchmarks/test_workers.py",
    "browser",
    "deploy/test_seccomp.py",
    "docs/test_commands.py",
    "grader/sandbox/test_compiled_imports.py",
    "grader/sandbox/test_outliving.py",
    "grader/verifier/test_fresh_memory.py",
    "hostile",
    "prove/test_measured_again.py",
)
PROGRAMS = {"bwrap", "chromium", "initdb", "npm", "pg_ctl", "postgres"}

_LONG_FILES = frozenset(TESTS / name for name in LONG_TESTS)
_started: list[str] = []


def reason(item: pytest.Item) -> str | None:
    """Why a test is slow; None if it is not."""
    for name in getattr(item, "fixturenames", ()):
        if name in FIXTURES:
            return f"fixture {name}: {FIXTURES[name]}"
    if (group := group_of(item)) in GROUPS:
        return f"group {group}: PostgreSQL"
    if found := GLOBALS & vars(getattr(item, "module", None) or object).keys():
        return f"imports {min(found)}"
    return _reason_of_place(item.path)


@cache
def _reason_of_place(path: Path) -> str | None:
    if not path.is_relative_to(TESTS):
        return None
    return next((f"in {each}" for each in PATHS if path.relative_to(TESTS).is_relative_to(each)), None)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out by ./meshgrade test --quick; see tests/slow_tests.py")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    for item in items:
        if reason(item):
            item.add_marker("slow")
    share_fixtures(items)
    # By identity: pytest-xdist appends the group to an item's id, and so changes its hash, while the other plugins run.
    written = {id(item): number for number, item in enumerate(items)}
    yield
    items[:] = order(_unshuffled(items, written))


def share_fixtures(items: list[pytest.Item]) -> None:
    """Run all tests of a module that use one of its module fixtures in one process, which builds the fixture once.

    Otherwise pytest-xdist would deal them out one by one, and every process would build each fixture.
    """
    for item in items:
        if group_of(item) is None and _uses_module_fixture(item):
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(item.config.rootpath))))


def _uses_module_fixture(item: pytest.Item) -> bool:
    info = getattr(item, "_fixtureinfo", None)
    found = info.name2fixturedefs.values() if info else ()
    return any(each and each[-1].scope in ("module", "class") for each in found)


def _unshuffled(items: list[pytest.Item], written: dict[int, int]) -> list[pytest.Item]:
    """Put the tests of each folder of `KEPT_IN_ORDER` together, in the order of the files, where the first one was.

    If another test ran between two that inspect the machine, it would change the machine.
    """
    folders: dict[str, list[pytest.Item]] = {}
    for item in sorted(items, key=lambda item: written[id(item)]):
        if folder := _kept_in(item):
            folders.setdefault(folder, []).append(item)
    unshuffled: list[pytest.Item] = []
    for item in items:
        folder = _kept_in(item)
        unshuffled += [item] if folder is None else folders.pop(folder, [])
    return unshuffled


def _kept_in(item: pytest.Item) -> str | None:
    return _folder_kept(item.path)


@cache
def _folder_kept(path: Path) -> str | None:
    return next((each for each in KEPT_IN_ORDER if path.is_relative_to(TESTS / each)), None)


def order(items: list[pytest.Item]) -> list[pytest.Item]:
    """Reorder the tests as little as possible to save time.

    Within a module, tests of one group stay together, because they share a warm runner or a server. The slowest groups
    come first, so that no process still runs them when the others have finished.
    """
    together: list[pytest.Item] = []
    for _, each in groupby(items, lambda item: getattr(item, "module", None)):
        module = list(each)
        first: dict[str, int] = {}
        for number, item in enumerate(module):
            first.setdefault(group_of(item) or item.nodeid, number)
        together += sorted(module, key=lambda item: first[group_of(item) or item.nodeid])
    return sorted(together, key=_turn)


def _turn(item: pytest.Item) -> int:
    # First, before other tests start something in the process, because these count its processes and descriptors.
    if _kept_in(item) == "hostile":
        return -1
    if (group := group_of(item)) in LONGEST:
        return LONGEST.index(group)
    return len(LONGEST) if item.path in _LONG_FILES else len(LONGEST) + 1


def group_of(item: pytest.Item) -> str | None:
    """Run the tests of one group in one process."""
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0]) if mark and mark.args else None


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "subprocess.Popen":
        executable, command = arguments[:2]
        first = executable or (command[0] if isinstance(command, list | tuple) and command else command)
        name = os.path.basename(os.fsdecode(first)) if isinstance(first, str | bytes | os.PathLike) else ""
        if name in PROGRAMS:
            _started.append(name)


sys.addaudithook(_watch)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that starts such a program and is not slow."""
    _started.clear()
    yield
    started = _started.copy()
    _started.clear()
    if started and not item.get_closest_marker("slow"):
        pytest.fail(
            f"This test starts {started[0]}, so it is slow: name its fixture or its file in tests/slow_tests.py."
        )
