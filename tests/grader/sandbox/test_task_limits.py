"""No submission leaves another, or the service, without threads."""

import os

import pytest

from grader.core.errors import SubmissionFault
from grader.package.package import Limits
from grader.sandbox import session as session_module
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.task_limits import TASKS, needed_tasks, shared_tasks
from grader.sandbox.usage import Usage, usage_of
from tests.grader.forged_replies import ForgedSandbox


def test_forks_that_are_counted_together_leave_some_for_the_service() -> None:
    assert [shared_tasks(limit) for limit in (None, 100_000, 2000)] == [8192, 8192, 1500]


def test_what_a_container_needs_grows_with_its_slots_and_its_pool() -> None:
    assert needed_tasks(2, waiting=6) - needed_tasks(1, waiting=6) > TASKS
    assert needed_tasks(2, waiting=7) > needed_tasks(2, waiting=6) > 2 * TASKS


def test_threads_are_counted() -> None:
    assert usage_of(os.getpid()).threads == len(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("threads", [TASKS, TASKS + 1])
def test_one_with_more_than_its_share_is_ended(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "usage_of", lambda pid: Usage(0.0, 0, threads))
    with ForgedSandbox([]).open(RunnerSpec(8, Limits())) as session, pytest.raises(SubmissionFault) as caught:
        session.request({"op": "call"})
    assert ("more than 512 threads" in str(caught.value)) is (threads > TASKS)
    assert caught.value.reason == "killed"
