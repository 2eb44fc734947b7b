"""A failed reference is a matter of the judge: every caller sees the failure, and a success for any of them ends it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.core.context import QUIET
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.package.package import Package
from grader.sandbox.null_sandbox import NullSandbox
from grader.sandbox.retry_backoff import RetryBackoff


class Processes:
    """Those of a package: they are stopped `failures` times, and answer after that."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.opened = 0

    def answer(self, message: dict[str, Any], values: dict[str, object]) -> Frame:
        if message["op"] == "load":
            self.opened += 1
            if self.failures:
                self.failures -= 1
                raise SubmissionFault("time_limit", "Your code was stopped after 60 s")
        if message["op"] == "cases":
            return {"ok": True}, {"cases": [{"x": np.ones(2, np.float32)}]}
        return {"ok": True}, {"result": np.full(2, 2, np.float32), "observed": []}


def prepare(judge: Judge, package: Package, *, background: bool) -> None:
    judge.prepare(package, QUIET, background=background)


def test_a_second_caller_in_the_background_does_not_try_before_the_next_try_is_due(
    add_one: Package, tmp_path: Path
) -> None:
    processes = Processes(failures=1)
    judge = Judge(NullSandbox(processes.answer), b"s", tmp_path)
    for _ in range(3):
        with pytest.raises(GraderFault, match="time_limit"):
            prepare(judge, add_one, background=True)
    assert processes.opened == 1
    setback = judge.setbacks.of(add_one.version)
    assert setback is not None
    assert setback.failures == 1


@pytest.mark.parametrize("success", ["judge", "variants"])
def test_a_success_of_the_judge_ends_the_pause(add_one: Package, tmp_path: Path, success: str) -> None:
    judge = Judge(NullSandbox(Processes(failures=3).answer), b"s", tmp_path)
    for background in (True, False, False):
        with pytest.raises(GraderFault, match="time_limit"):
            prepare(judge, add_one, background=background)
    assert not judge.setbacks.is_due(add_one.version)
    if success == "judge":
        assert judge.judge(add_one, "the source").status == "accepted"
    else:
        assert judge.variants(add_one) is None
    assert judge.setbacks.all() == ()
    prepare(judge, add_one, background=True)


def test_a_pause_is_at_most_two_minutes(add_one: Package, tmp_path: Path) -> None:
    judge = Judge(NullSandbox(Processes(failures=0).answer), b"s", tmp_path)
    pauses = [judge.setbacks.failed(add_one.version, "why").again_in_s for _ in range(20)]
    assert (pauses[0], max(pauses)) == (15, 120)
    assert RetryBackoff().failed("a warm-up", "why").again_in_s == 15
