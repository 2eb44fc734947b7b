"""A judge takes what another machine's judge computed, as long as nothing that it depends on differs."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.core.errors import GraderFault
from grader.judging import references
from grader.judging.judge import Judge
from grader.package.package import Package
from grader.sandbox.null_sandbox import NullSandbox
from tests.grader.judging.test_failed_references import Processes


class Shelf(dict[str, Mapping[str, bytes]]):
    fetch = dict.get

    def offer(self, key: str, files: Mapping[str, bytes]) -> None:
        self[key] = files


def prepared(shelf: Shelf, package: Package, folder: Path, secret: bytes = b"s") -> int:
    """How many processes it took."""
    processes = Processes(failures=0)
    judge = Judge(NullSandbox(processes.answer), secret, folder)
    judge.share(shelf)
    judge.prepare(package)
    return processes.opened


def test_what_one_has_computed_no_other_computes(add_one: Package, tmp_path: Path) -> None:
    shelf = Shelf()
    assert prepared(shelf, add_one, tmp_path / "one") > 0
    assert prepared(shelf, add_one, tmp_path / "other") == 0
    (files,) = shelf.values()
    (folder,) = (tmp_path / "other").iterdir()
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == files


@pytest.mark.parametrize("other", ["secret", "processor", "format"])
def test_what_depends_on_something_else_is_computed(
    add_one: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    shelf, secret = Shelf(), b"s"
    assert prepared(shelf, add_one, tmp_path / "one") > 0
    if other == "secret":
        secret = b"t"
    elif other == "processor":
        monkeypatch.setattr(references, "_processor", lambda: "another")
    else:
        monkeypatch.setattr(references, "_FORMAT", "0")
    assert prepared(shelf, add_one, tmp_path / "other", secret) > 0
    assert len(shelf) == 2


@pytest.mark.parametrize("change", ["list", "case", "name"])
def test_what_is_incomplete_or_damaged_is_computed_again(add_one: Package, tmp_path: Path, change: str) -> None:
    shelf = Shelf()
    prepared(shelf, add_one, tmp_path / "one")
    ((key, files),) = shelf.items()
    shelf[key] = {
        "list": {name: content for name, content in files.items() if name != "cases.frame"},
        "case": {name: content if name == "cases.frame" else content[:-3] for name, content in files.items()},
        "name": {**files, "../outside.frame": b"x"},
    }[change]
    assert prepared(shelf, add_one, tmp_path / "other") > 0
    assert not (tmp_path / "outside.frame").exists()


def test_a_failure_is_not_shared(add_one: Package, tmp_path: Path) -> None:
    shelf = Shelf()
    judge = Judge(NullSandbox(Processes(failures=1).answer), b"s", tmp_path)
    judge.share(shelf)
    with pytest.raises(GraderFault):
        judge.prepare(add_one)
    assert not shelf
