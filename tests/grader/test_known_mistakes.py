"""Known wrong submissions: run while nothing is graded, and compared in the order of likelihood."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.judge import Judge
from grader.likelihood import by_likelihood
from grader.package.package import KnownSubmission, Package
from grader.sandbox.null import NullSandbox, Reply

LINES = ["x = x + 2", "x = 2 * x", "x = x - y", "x = abs(x) ** 3", "x = sum(x)"]


def source_of(line: str) -> str:
    return f"import jax\n\n\ndef add_one(x):\n    y = jax.numpy.ones(3)\n    {line}\n    return x + y\n"


@pytest.fixture
def package(add_one: Package) -> Package:
    known = [
        KnownSubmission(f"wrong_value/{number}", source_of(line), "wrong_value", f"Mistake {number}.")
        for number, line in enumerate(LINES)
    ]
    return replace(add_one, rejected=tuple(known))


class Runners:
    """Every known wrong submission returns the same, and `during` is called while another submission is graded."""

    def __init__(self, package: Package, during: Callable[[], None] = lambda: None) -> None:
        self.package, self.during = package, during
        self.run: list[str] = []
        self.loaded = ""

    def __call__(self, message: dict, values: dict) -> Reply:
        ok = {"ok": True}
        match message["op"]:
            case "load":
                self.loaded = message["source"]
                self.run += [each.name for each in self.package.rejected if each.source == self.loaded]
                return ok, {}
            case "cases":
                return ok, {"cases": [{"x": np.ones(2, np.float32)}]}
        (x,) = values["args"]
        if self.loaded == self.package.reference:
            return ok, {"result": x + 1, "observed": []}
        if "submitted" in self.loaded:
            self.during()
            return ok, {"result": x + (3 if "unknown" in self.loaded else 2), "observed": []}
        return ok, {"result": x + 2, "observed": []}


def make(package: Package, folder: Path, **options) -> tuple[Judge, Runners]:
    runners = Runners(package)
    return Judge(NullSandbox(runners), b"s", folder, **options), runners


@pytest.mark.parametrize("number", range(len(LINES)))
def test_the_likeliest_shares_what_the_others_do_not_have(package: Package, number: int) -> None:
    written = source_of(LINES[number]).replace("y", "ones") + "# submitted\n"
    assert by_likelihood(written, package.rejected)[0] == package.rejected[number]


def test_of_what_is_no_python_the_part_before_the_fault_counts(package: Package) -> None:
    cut = source_of(LINES[3]).rpartition("return")[0] + "return ((("
    assert by_likelihood(cut, package.rejected)[0] == package.rejected[3]


def test_matching_stops_at_the_first_that_is_like_it(package: Package, tmp_path: Path) -> None:
    judge, runners = make(package, tmp_path)
    verdict = judge.judge(package, source_of(LINES[2]) + "# submitted\n")
    assert verdict.misconception == "Mistake 2."
    assert runners.run == ["wrong_value/2"]


def test_a_wrong_submission_never_waits_for_all_of_them(package: Package, tmp_path: Path) -> None:
    judge, runners = make(package, tmp_path, wait_for_known=2)
    assert judge.judge(package, source_of(LINES[4]) + "# submitted unknown\n").misconception is None
    assert len(runners.run) == 2
    assert runners.run[0] == "wrong_value/4"


def test_where_they_are_run_in_the_background_nobody_waits_for_any(package: Package, tmp_path: Path) -> None:
    judge, runners = make(package, tmp_path, wait_for_known=0)
    wrong = source_of(LINES[1]) + "# submitted\n"
    assert judge.judge(package, wrong).misconception is None
    assert runners.run == []
    judge.prepare_known(package)
    assert sorted(runners.run) == sorted(each.name for each in package.rejected)
    assert judge.judge(package, wrong).misconception == "Mistake 1."
    # Results are stored, even for the next process.
    again, runners = make(package, tmp_path, wait_for_known=0)
    assert again.judge(package, wrong).misconception == "Mistake 1."
    assert runners.run == []


def test_nothing_is_run_in_the_background_while_a_submission_is_graded(package: Package, tmp_path: Path) -> None:
    judge, runners = make(package, tmp_path, wait_for_known=0)
    judge.prepare(package)
    seen: list[list[str]] = []
    work = threading.Thread(target=judge.prepare_known, args=(package,))

    def during() -> None:
        if not work.ident:
            work.start()
        work.join(0.3)
        seen.append(list(runners.run))

    runners.during = during
    judge.judge(package, source_of(LINES[0]) + "# submitted\n")
    assert len(seen) == 2
    assert seen == [[], []]
    work.join()
    assert len(runners.run) == len(LINES)


def test_a_submission_does_not_wait_for_a_reference_that_is_made_in_the_background(
    package: Package, tmp_path: Path
) -> None:
    """The submission prepares it itself: background work rests while anything is graded, including this submission."""
    judge, runners = make(package, tmp_path)
    made, go_on = threading.Event(), threading.Event()
    answer = runners.__call__
    ended: list[str] = []

    def slow(message: dict, values: dict) -> Reply:
        if message["op"] == "cases" and threading.current_thread() is work:
            made.set()
            assert go_on.wait(30)
        return answer(message, values)

    def prepare() -> None:
        try:
            judge.prepare(package, background=True)
        except Exception as error:  # the fault that it ended with is the subject of the test
            ended.append(type(error).__name__)

    judge, work = Judge(NullSandbox(slow), b"s", tmp_path), threading.Thread(target=prepare)
    work.start()
    assert made.wait(30)
    submission = threading.Thread(target=judge.judge, args=(package, "# submitted"))
    submission.start()
    submission.join(0.3)
    go_on.set()
    submission.join(30)
    work.join(30)
    assert ended == ["Cancelled"]
    assert not submission.is_alive()
