"""Preparation gives way to a submission of the same problem, and resumes only after that submission is graded."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from grader.core.context import Context
from grader.core.errors import Cancelled
from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.package.package import Package
from grader.sandbox.null_sandbox import NullSandbox
from grader.verdicts.verdict import Verdict


def answer(message: dict, values: dict) -> Frame:
    if message["op"] == "cases":
        return {"ok": True}, {"cases": [{"x": np.ones(2, np.float32)}]}
    return {"ok": True}, {"result": np.full(2, 2, np.float32), "observed": []}


@pytest.mark.parametrize("again", range(10))
def test_a_submission_does_not_wait_for_what_waits_for_it(add_one: Package, tmp_path: Path, again: int) -> None:
    judge, over = Judge(NullSandbox(answer), b"s", tmp_path), threading.Event()

    def prepare() -> None:
        """As the service does: work that gave way is requested again at once."""
        while not over.is_set():
            try:
                return judge.prepare(add_one, Context(stop=over), background=True)
            except Cancelled:
                continue

    verdicts: list[Verdict] = []
    background = threading.Thread(target=prepare)
    student = threading.Thread(target=lambda: verdicts.append(judge.judge(add_one, "def add_one(x): return x + 1")))
    # Somebody else's submission is graded meanwhile, so preparation has the lock and waits.
    with judge._idle.interrupted():
        background.start()
        while not judge._references._background:
            time.sleep(0.001)
        student.start()
        student.join(60)
        graded = list(verdicts)
    over.set()
    background.join(60)
    student.join(60)
    assert [verdict.status for verdict in graded] == ["accepted"]
    assert not background.is_alive()
