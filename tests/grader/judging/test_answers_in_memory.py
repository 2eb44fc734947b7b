"""A judge keeps the answers of the problems that were used last in memory, and reads others from disk again."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.judging import references
from grader.judging.judge import Judge
from grader.package.package import Package
from grader.sandbox.null_sandbox import NullSandbox
from tests.grader.judging.test_failed_references import Processes


def test_what_is_no_longer_in_memory_is_read_from_disk(
    add_one: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(references, "_KEPT", 2)
    processes = Processes(failures=0)
    judge = Judge(NullSandbox(processes.answer), b"s", tmp_path)
    one, two, three = (replace(add_one, version=version) for version in ("one", "two", "three"))
    for package in (one, two, one, three):
        judge.prepare(package)
    assert list(judge._references._prepared) == ["one", "three"]
    opened = processes.opened
    judge.prepare(two)
    assert list(judge._references._prepared) == ["three", "two"]
    assert processes.opened == opened > 0
