"""Which verifiers are reused."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from grader.core.errors import SubmissionFault
from grader.package.package import Limits
from grader.sandbox.priority import may_raise
from grader.sandbox.verifiers import Verifiers


class Fork:
    """The part of a `ForkSession` that `Verifiers` uses. It uses little memory, unlike the process of the tests."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.alive = True
        self.fault: Exception | None = None

    def charge(self, limits: Limits, stop: object) -> None:
        return None

    def request(self, message: dict[str, Any], values: object = None) -> tuple[dict[str, Any], dict[str, object]]:
        if self.fault:
            raise self.fault
        return {}, {}

    def close(self) -> None:
        self.alive = False


@pytest.fixture(scope="module")
def small_process() -> Iterator[int]:
    with subprocess.Popen(["sleep", "infinity"]) as process:
        yield process.pid
        process.kill()


@pytest.fixture
def verifiers(small_process: int) -> Verifiers:
    return Verifiers(lambda spec, stop: Fork(small_process), keep=2)  # type: ignore[arg-type,return-value]


def served(verifiers: Verifiers, *, alone: bool = False, fault: Exception | None = None) -> Any:
    """The fork that was lent for one program. It answers with `fault`."""
    fork: Any = None
    with contextlib.suppress(SubmissionFault, OSError), verifiers.lend(8, Limits(), None, alone=alone) as verifier:
        fork = verifier._session  # type: ignore[attr-defined]
        fork.fault = fault
        verifier.request({})
    return fork


def test_one_that_answered_with_success_serves_the_next(verifiers: Verifiers) -> None:
    first = served(verifiers)
    assert served(verifiers) is first


@pytest.mark.parametrize("fault", [SubmissionFault("not_exportable", ""), SubmissionFault("killed", ""), OSError()])
def test_one_that_answered_with_anything_else_is_ended(verifiers: Verifiers, fault: Exception) -> None:
    assert not served(verifiers, fault=fault).alive
    assert verifiers.pids() == ()


def test_one_whose_program_the_judge_found_wrong_lives_on(verifiers: Verifiers) -> None:
    def judge() -> None:
        with verifiers.lend(8, Limits(), None) as verifier:
            verifier.request({})
            raise SubmissionFault("wrong_shape", "")

    with pytest.raises(SubmissionFault):
        judge()
    assert len(verifiers.pids()) == 1


def test_one_that_is_to_be_alone_is_new_and_is_ended(verifiers: Verifiers) -> None:
    first = served(verifiers)
    alone = served(verifiers, alone=True)
    assert alone is not first
    assert (first.alive, alone.alive) == (True, False)
    assert served(verifiers) is first


def test_one_that_nobody_waits_for_gives_way_until_it_is_given_back(verifiers: Verifiers, small_process: int) -> None:
    with verifiers.lend(8, Limits(), None, background=True):
        assert os.sched_getscheduler(small_process) == (os.SCHED_IDLE if may_raise() else os.SCHED_OTHER)
    assert os.sched_getscheduler(small_process) == os.SCHED_OTHER
