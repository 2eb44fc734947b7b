"""Which verifier a program gets, and how the end of a verifier is reported. Nothing is compiled here."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.core.case import Case
from grader.core.errors import SubmissionFault
from grader.modes.program.examine import examine
from grader.modes.program.mode import ProgramMode
from grader.review.reader import read_package
from grader.sandbox.faults import fault_of_exit, fault_of_program
from grader.sandbox.null_sandbox import NullSandbox, NullSession
from grader.sandbox.protocol import Output, RunnerSpec

CASES = [
    Case(f"{kind}-{seed}", kind == "public", {"seed": seed, "x": np.zeros((2, 24, 16), np.float32)})
    for kind, seed in (("public", 1), ("public", 3), ("hidden", 2), ("hidden", 4))
]
STATE = {"w": np.zeros((512, 16), np.float32)}
EXPORTED: dict[str, object] = {
    "artifact": np.zeros(9, np.uint8),
    "init": np.zeros(9, np.uint8),
    "outputs": ["w", "loss"],
    "for_chips": {},
    "chip_faults": {},
}


def _exported(message: dict[str, Any], values: object) -> Any:
    if message["op"] == "two_steps":
        return {}, {"two_steps": np.zeros(9, np.uint8)}
    return {}, EXPORTED | {"states": [STATE] * len(message["seeds"])}


class Verifiers(NullSandbox):
    """Answers requests by `answer(alone, message, values)`; `lent` says of each whether it was to be alone."""

    def __init__(self, answer: Any) -> None:
        super().__init__(_exported)
        self.answer_of_verifier = answer
        self.lent: list[bool] = []

    @contextmanager
    def verifier(self, *args: Any, alone: bool = False) -> Iterator[NullSession]:
        self.lent.append(alone)
        yield NullSession(lambda *request: self.answer_of_verifier(alone, *request), Output("", "", False))


def fault_of(sandbox: Verifiers) -> SubmissionFault:
    package = read_package(Path(__file__).parents[2] / "packages" / "move_mean")
    with pytest.raises(SubmissionFault) as raised, sandbox.open(None) as session:  # type: ignore[arg-type]
        examine(package.manifest, CASES, sandbox, session)
    return raised.value


def test_a_program_that_crashes_a_verifier_of_its_own_is_told_so() -> None:
    def crash(alone: bool, message: dict[str, Any], values: object) -> Any:
        raise fault_of_exit(-11, "")

    sandbox = Verifiers(crash)
    fault = fault_of(sandbox)
    assert fault.reason == "killed"
    assert "crashed (SIGSEGV) while your program was compiled for mesh x=8" in str(fault)
    assert sorted(sandbox.lent) == [False, False, True, True]


def test_a_crash_that_does_not_repeat_alone_is_nobodys() -> None:
    def crash(alone: bool, message: dict[str, Any], values: object) -> Any:
        raise SubmissionFault("wrong_sharding", "as it is") if alone else fault_of_exit(-6, "")

    assert str(fault_of(Verifiers(crash))) == "as it is"


def test_native_kernels_run_alone_and_public_cases_where_no_hidden_one_was() -> None:
    seeds: set[tuple[bool, int]] = set()

    def answer(alone: bool, message: dict[str, Any], values: dict[str, Any]) -> Any:
        if message["op"] == "run":
            seeds.add((alone, int(values["inputs"][0])))
            return {}, {"steps": [{"outputs": [STATE["w"]], "replicas": {}}]}
        assert message["alone"] is alone
        if alone and message["state"]:
            raise SubmissionFault("wrong_sharding", "`init` has run on every seed that this verifier is given")
        facts = {"outputs": [{"shape": [512, 16], "dtype": "float32"}]} if alone else None
        return {"facts": facts, "kernels": True}, {}

    fault_of(Verifiers(answer))
    assert seeds == {(True, 1), (True, 3)}


def test_the_end_of_a_verifier_names_the_case() -> None:
    ran = "your compiled program ran hidden-2 on mesh x=4"
    assert "(exit code 3) while your compiled program ran hidden-2 on mesh x=4" in str(
        fault_of_program(fault_of_exit(3, ""), ran)
    )
    assert str(fault_of_program(SubmissionFault("time_limit", "Stopped."), ran)).endswith(f"happened while {ran}.")
    unchanged = SubmissionFault("not_exportable", "The program calls `x`.")
    assert fault_of_program(unchanged, ran) is unchanged


def test_a_verifier_is_ready_before_the_first_program():
    package = read_package(Path(__file__).parents[2] / "packages" / "move_mean")
    warmed: list[RunnerSpec] = []
    sandbox = NullSandbox(lambda message, values: ({}, {}))
    sandbox.warm = warmed.append  # type: ignore[method-assign]
    ProgramMode(package, package.manifest, sandbox).warm()
    assert [each.program for each in warmed] == ["verify", "serve"]
    assert {each.devices for each in warmed} == {8}
