"""Print how long the tests of each folder took, at the end of a run, so that it shows where a run spends its time.

Two things are measured. Seconds are those of the clock, so they grow if the machine is busy. CPU seconds are those of
the test process and of everything that it started, such as a sandbox, a browser or a service, while it ran the tests
of one file. They grow little on a busy machine, so a budget can hold them (tests/cpu_budget.py). What left the test
process's tree, as PostgreSQL does, is not among them.

How long each phase of each test took is in a file, the longest first, if the environment names one.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.usage import cpu_s_below
from tests.cpu_budget import CHECK, excesses

_MOST = 15
_LEVELS = 3
# In a shorter run, somebody is looking at one test.
_LEAST_S = 60.0
_CPU_S = "cpu_s"
# The file for the time of every test.
DURATIONS = "MESHGRADE_TEST_DURATIONS"


def folder_of(test: str) -> str:
    """`tests/grader/program` for the id of a test in it or below it."""
    folders = test.partition("::")[0].split("/")[:-1]
    return "/".join(folders[:_LEVELS])


def lines(seconds: Counter[str], cpu_s: Counter[str], tests: Counter[str]) -> Iterator[str]:
    """A line for each of the folders that took the longest."""
    total = sum(seconds.values())

    def line(folders: list[str], name: str) -> str:
        took, cpu, number = (sum(each[folder] for folder in folders) for each in (seconds, cpu_s, tests))
        return f"{took:7.0f} s {100 * took / total:5.1f} %  {cpu:7.0f} CPU s  {number:6,} tests  {name}"

    folders = [folder for folder, _ in seconds.most_common()]
    for folder in folders[:_MOST]:
        yield line([folder], folder)
    if rest := folders[_MOST:]:
        yield line(rest, "elsewhere")


class FolderTimes:
    """Adds up times in the process that started the others, which gets all reports."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.cpu_s_of_files: Counter[str] = Counter()
        self.tests_of_files: Counter[str] = Counter()
        self._durations: list[tuple[float, str]] = []
        # Remove the variable, because a test may run a pytest of its own.
        self._durations_file = os.environ.pop(DURATIONS, None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        self.seconds[folder_of(report.nodeid)] += report.duration
        self._durations.append((report.duration, f"{report.when:8} {report.nodeid}"))
        self.tests_of_files[file] += report.when == "call"
        if report.when == "teardown":
            self.cpu_s_of_files[file] += dict(report.user_properties).get(_CPU_S, 0.0)

    def pytest_sessionfinish(self) -> None:
        if self._durations_file:
            found = sorted(self._durations, key=lambda each: -each[0])
            text = "".join(f"{took:9.3f} s {phase}\n" for took, phase in found)
            Path(self._durations_file).write_text(text, encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if sum(self.seconds.values()) >= _LEAST_S:
            terminalreporter.section("seconds of all processes, by folder")
            total = sum(self.cpu_s_of_files.values())
            terminalreporter.line(f"{total:,.0f} CPU seconds in {sum(self.tests_of_files.values()):,} tests")
            for line in lines(self.seconds, _by_folder(self.cpu_s_of_files), _by_folder(self.tests_of_files)):
                terminalreporter.line(line)
        if os.environ.get(CHECK) and (found := self._excesses()):
            terminalreporter.section("warning: more CPU time than the budget", yellow=True)
            for line in found:
                terminalreporter.line(line)

    def _excesses(self) -> list[str]:
        return excesses(self.cpu_s_of_files, self.tests_of_files, folder_of)


def _by_folder(of_files: Counter[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for file, number in of_files.items():
        found[folder_of(file)] += number
    return found


class CPUMeter:
    """In each process that runs tests, adds what a file took to the last report of its last test.

    Looking at all processes takes milliseconds, which is too much for each of thousands of tests. It also looks before
    that last test is torn down, because the time of a process that ends apart from its parent is lost.
    """

    def __init__(self) -> None:
        self._before = 0.0
        self._took = 0.0
        self._is_last = False

    def pytest_collection_finish(self) -> None:
        self._before = cpu_s_below(os.getpid())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        self._is_last = nextitem is None or nextitem.path != item.path

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        report: Any = yield
        if self._is_last and call.when != "setup":
            now = cpu_s_below(os.getpid())
            self._took += max(0.0, now - self._before)
            self._before = now
            if call.when == "teardown":
                report.user_properties.append((_CPU_S, self._took))
                self._took = 0.0
        return report


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FolderTimes(), "folder times")
    config.pluginmanager.register(CPUMeter(), "CPU meter")
