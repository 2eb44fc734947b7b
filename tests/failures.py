"""Write down which tests of a run failed, and run exactly these again.

`./meshgrade test` runs pytest once, and then the tests that failed once more, alone and in one process. A test that
passes then is unstable: chance decides it, or how busy the machine is. Such tests are listed with what both runs
said, and a few of them do not fail a run (`unstable_faults`).
"""

import json
import os
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

# The file that a run writes its failures to, and the file of failures whose tests are the only ones to run.
WRITE_TO = "MESHGRADE_TEST_FAILURES"
ONLY = "MESHGRADE_TEST_ONLY"
# More failures than this come from one fault, and would take long one after another.
MOST_AGAIN = 40
# At most this many tests may be unstable in one run.
MOST_UNSTABLE = 3
# A test that was unstable in one of the last merges may not be unstable again.
MERGES = 3
UNSTABLE_FILE = Path(__file__).with_name("unstable.toml")
_ONLY = pytest.StashKey[str | None]()


class Failures:
    """Collects failures in the process that started the others, which gets all reports."""

    def __init__(self, file: Path, config: pytest.Config) -> None:
        self._file = file
        self._config = config
        self._failures: dict[str, str] = {}
        self._not_collected: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            told = self._failures.get(report.nodeid, "")
            if not told:
                self._tell(f"FAILED {report.nodeid}")
            self._failures[report.nodeid] = f"{told}{report.when}:\n{report.longreprtext}\n"

    def _tell(self, line: str) -> None:
        """Print a failure at once, because a run takes many minutes."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(line, red=True)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._not_collected.append(f"{report.nodeid}:\n{report.longreprtext}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        found = {"failures": self._failures, "not_collected": self._not_collected}
        self._file.write_text(json.dumps(found), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    # Remove the variables, because a test may run a pytest of its own, which would use the same files.
    file, config.stash[_ONLY] = os.environ.pop(WRITE_TO, None), os.environ.pop(ONLY, None)
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(Path(file), config), "failures")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    file = config.stash[_ONLY]
    if not file:
        return
    wanted = json.loads(Path(file).read_text(encoding="utf-8"))["failures"]
    left_out = [item for item in items if not _is_wanted(item, wanted)]
    config.hook.pytest_deselected(items=left_out)
    numbers = {id(item) for item in left_out}
    items[:] = [item for item in items if id(item) not in numbers]


def _is_wanted(item: pytest.Item, wanted: Collection[str]) -> bool:
    """Whether the test failed. pytest-xdist adds a test's group to its id, after an @.

    What a batch of attacks left is found after the last of them, so the whole batch runs again.
    """
    mark = item.get_closest_marker("xdist_group")
    name = f"{item.nodeid}@{mark.args[0]}" if mark else item.nodeid
    if item.nodeid in wanted or name in wanted:
        return True
    return bool(mark) and "tests/hostile/" in name and any(each.endswith(f"@{mark.args[0]}") for each in wanted)  # type: ignore[union-attr]


def read_failures(file: Path) -> dict[str, Any]:
    """Read what a run wrote. `complete` is false if the run ended before it could write."""
    if not file.exists():
        return {"failures": {}, "not_collected": [], "complete": False}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found | {"complete": True}


def name_of(test: str) -> str:
    """The id of a test without its group."""
    head, at, group = test.rpartition("@")
    return head if at and "]" not in group and "::" not in group else test


def unstable_faults(unstable: Collection[str], before: Iterable[str]) -> list[str]:
    """Why a run fails although each of its failures passed alone; empty if it does not.

    Args:
      unstable: the tests that failed at first and passed alone.
      before: the tests that were unstable in the merges before.
    """
    faults = [
        f"{test} was unstable in one of the last {MERGES} merges, too (tests/unstable.toml). Make it give one answer."
        for test in sorted({name_of(test) for test in unstable} & set(before))
    ]
    if len(unstable) > MOST_UNSTABLE:
        faults.append(
            f"{len(unstable)} tests failed at first and passed alone, which is more than {MOST_UNSTABLE}. "
            "Make them wait for events instead of times, and count what belongs to them alone."
        )
    return faults


def unstable_before(file: Path = UNSTABLE_FILE) -> set[str]:
    """The tests that were unstable in the last merges."""
    merges = tomllib.loads(file.read_text(encoding="utf-8")).get("merge", [])
    return {test for merge in merges[-MERGES:] for test in merge["tests"]}
