"""Which verifiers are reused."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.core.context import NEVER
from grader.core.errors import Cancelled, SubmissionFault
from grader.package.package import Limits
from grader.sandbox.known_programs import KnownPrograms
from grader.sandbox.priority import may_raise
from grader.sandbox.verifiers import Verifiers


class Fork:
    """The part of a `ForkSession` that `Verifiers` uses. It uses little memory, unlike the process of the tests."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.alive = True
        self.fault: Exception | None = None
        self.asked: list[object] = []

    def charge(self, limits: Limits, stop: object) -> None:
        return None

    def request(self, message: dict[str, Any], values: object = None) -> tuple[dict[str, Any], dict[str, object]]:
        self.asked.append(message["op"])
        if self.fault:
            raise self.fault
        return {"ok": True}, {"steps": np.arange(3)}

    def close(self) -> None:
        self.alive = False


@pytest.fixture(scope="module")
def small_process() -> Iterator[int]:
    with subprocess.Popen(["sleep", "infinity"]) as process:
        yield process.pid
        process.kill()


@pytest.fixture
def forks() -> list[Fork]:
    """The forks that were made, in order."""
    return []


@pytest.fixture
def verifiers(small_process: int, forks: list[Fork]) -> Verifiers:
    def take(spec: object, stop: object) -> Fork:
        forks.append(Fork(small_process))
        return forks[-1]

    return Verifiers(take, keep=2)  # type: ignore[arg-type]


def compile_and_run(
    verifiers: Verifiers, program: str = "one", inputs: int = 1, limits: Limits | None = None, **options: Any
) -> list[object]:
    """What a verifier answers for a program and one run of it."""
    devices = options.pop("devices", 8)
    with verifiers.lend(devices, limits or Limits(), NEVER, **options) as verifier:
        artifact = np.frombuffer(program.encode(), np.uint8)
        verifier.compile({"x": 8}, artifact, [], state=0, alone=False)
        return [verifier.run(1, [], [np.full(2, inputs)])]


def served(verifiers: Verifiers, forks: list[Fork], *, alone: bool = False, fault: Exception | None = None) -> Fork:
    """The fork that was lent for one program. It answers with `fault`."""
    with (
        contextlib.suppress(SubmissionFault, OSError),
        verifiers.lend(8, Limits(), NEVER, alone=alone, fresh=True) as verifier,
    ):
        # Tell the forks apart by what they are asked.
        before = [len(fork.asked) for fork in forks]
        for fork in forks:
            fork.fault = fault
        verifier.compile({"x": 8}, None, [], state=0, alone=alone)
    [fork] = [fork for fork, number in zip(forks, before, strict=True) if len(fork.asked) > number]
    return fork


def test_one_that_answered_with_success_serves_the_next(verifiers: Verifiers, forks: list[Fork]) -> None:
    first = served(verifiers, forks)
    assert served(verifiers, forks) is first


@pytest.mark.parametrize("fault", [SubmissionFault("not_exportable", ""), SubmissionFault("killed", ""), OSError()])
def test_one_that_answered_with_anything_else_is_ended(
    verifiers: Verifiers, forks: list[Fork], fault: Exception
) -> None:
    assert not served(verifiers, forks, fault=fault).alive
    assert verifiers.pids() == ()


def test_one_whose_program_the_judge_found_wrong_lives_on(verifiers: Verifiers) -> None:
    def judge() -> None:
        with verifiers.lend(8, Limits(), NEVER) as verifier:
            verifier.compile({}, None, [], state=0, alone=False)
            raise SubmissionFault("wrong_shape", "")

    with pytest.raises(SubmissionFault):
        judge()
    assert len(verifiers.pids()) == 1


def test_one_that_is_to_be_alone_is_new_and_is_ended(verifiers: Verifiers, forks: list[Fork]) -> None:
    first = served(verifiers, forks)
    alone = served(verifiers, forks, alone=True)
    assert alone is not first
    assert (first.alive, alone.alive) == (True, False)
    assert served(verifiers, forks) is first


def test_one_that_nobody_waits_for_gives_way_until_it_is_given_back(verifiers: Verifiers, small_process: int) -> None:
    with verifiers.lend(8, Limits(), NEVER, background=True, fresh=True):
        assert os.sched_getscheduler(small_process) == (os.SCHED_IDLE if may_raise() else os.SCHED_OTHER)
    assert os.sched_getscheduler(small_process) == os.SCHED_OTHER


def asked(forks: list[Fork]) -> list[object]:
    return [op for fork in forks for op in fork.asked]


def test_a_program_that_was_run_on_the_same_inputs_before_needs_no_verifier(verifiers, forks):
    [first] = compile_and_run(verifiers)
    [again] = compile_and_run(verifiers)
    np.testing.assert_array_equal(again, first)
    assert asked(forks) == ["compile", "run"]


@pytest.mark.parametrize(
    "other",
    [
        {"program": "another"},
        {"devices": 4},
        {"limits": Limits(time_s=19)},
        {"limits": Limits(wall_s=59)},
        {"limits": Limits(memory_mb=1024)},
        {"fresh": True},
        {"alone": True},
    ],
    ids=str,
)
def test_whatever_decides_an_answer_makes_another_program(verifiers, forks, other):
    compile_and_run(verifiers)
    compile_and_run(verifiers, **other)
    assert asked(forks) == 2 * ["compile", "run"]


def test_another_grader_or_jax_makes_another_program(verifiers, forks, monkeypatch):
    compile_and_run(verifiers)
    monkeypatch.setattr("grader.sandbox.verifiers.grader_code", lambda: "0123456789abcdef jax 99.0")
    compile_and_run(verifiers)
    assert asked(forks) == 2 * ["compile", "run"]


def test_a_known_program_is_compiled_again_only_to_run_it_on_other_inputs(verifiers, forks):
    compile_and_run(verifiers)
    compile_and_run(verifiers, inputs=2)
    assert asked(forks) == 2 * ["compile", "run"]
    compile_and_run(verifiers, inputs=1)
    compile_and_run(verifiers, inputs=2)
    assert asked(forks) == 2 * ["compile", "run"]


def test_what_failed_or_ran_alone_is_not_known(verifiers, forks):
    served(verifiers, forks, fault=SubmissionFault("not_exportable", ""))
    compile_and_run(verifiers, alone=True)
    compile_and_run(verifiers)
    assert asked(forks) == ["compile", *2 * ["compile", "run"]]


def test_more_than_may_be_returned_is_not_answered_from_memory(verifiers, forks):
    compile_and_run(verifiers)
    # Only the verifier says that it is too much, which a fork of this test does not.
    narrow = Limits.model_construct(**Limits().model_dump() | {"output_mb": 0})
    compile_and_run(verifiers, limits=narrow)
    assert asked(forks) == ["compile", "run", "compile", "run"]


def test_a_grading_that_was_stopped_gets_no_answer_from_memory(verifiers, forks):
    compile_and_run(verifiers)
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled), verifiers.lend(8, Limits(), stop) as verifier:
        verifier.compile({"x": 8}, np.frombuffer(b"one", np.uint8), [], state=0, alone=False)


def test_the_answers_that_were_needed_least_recently_go_first():
    known = KnownPrograms(most_bytes=800)
    digests = [bytes([number]) for number in range(5)]
    for digest in digests:
        known.remember(digest, {}, {"steps": np.zeros(100, np.uint8)})
        assert known.find(digests[0], most_bytes=1024) is not None
    assert [known.find(digest, most_bytes=1024) is not None for digest in digests] == [True, False, True, True, True]
    known.remember(b"large", {}, {"steps": np.zeros(300, np.uint8)})
    assert known.find(b"large", most_bytes=4096) is None


def test_an_answer_from_memory_cannot_be_changed_for_the_next(verifiers, forks):
    compile_and_run(verifiers)
    [first] = compile_and_run(verifiers)
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 99  # type: ignore[index]
