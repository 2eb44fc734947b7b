"""Which case is reported, and what a hidden one reveals. Nothing was computed: the results are made up."""

import numpy as np
import pytest

from grader.checks.compare import Mismatch
from grader.checks.program import values
from grader.checks.program_subject import Result, Subject
from grader.core.case import Case
from grader.program.measurement import Run
from grader.verdicts.evidence import Difference, FailedCase, Tolerances
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program, subject

FAULT = Mismatch("wrong_value", "your result is zero", "expected 1, got 0.", Difference(expected="1", got="0"))


def result(case: str, mesh: dict[str, int], mismatch: Mismatch | None = None, *, steps: int = 1) -> Result:
    run = Run({}, ({"w": np.ones(1, np.float32)},) * steps, ({},) * steps)
    return Result(Case(case, case.startswith("public"), {}), mesh, run, run, "after step 1", mismatch)


def finding_of(*results: Result):
    pairs = subject((program(EIGHT), program(EIGHT)), (program(FOUR), program(FOUR))).pairs
    return values.check(Subject(subject().spec, {}, pairs, results), values.Bounds())


def test_a_case_counts_once_however_many_meshes_it_runs_on():
    finding = finding_of(
        result("hidden-1", EIGHT, FAULT),
        result("hidden-1", FOUR, FAULT),
        result("hidden-2", EIGHT),
        result("public-1", EIGHT),
    )
    assert (finding.passed, finding.reason) == (False, "wrong_value")
    assert finding.message == "1 of 3 cases failed. The first is hidden-1 on x=8, after step 1: your result is zero."


def test_a_public_case_is_reported_before_a_hidden_one():
    finding = finding_of(result("hidden-1", EIGHT, FAULT), result("public-1", FOUR, FAULT))
    assert finding.message == "2 of 2 cases failed. The first is public-1 on x=4, after step 1: expected 1, got 0."
    assert [entry for entry in finding.evidence if isinstance(entry, FailedCase)] == [
        FailedCase(case="public-1", mesh=FOUR, where="after step 1", difference=FAULT.difference)
    ]


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_tolerances_of_the_last_step_are_shown(steps: int):
    finding = finding_of(result("public-1", EIGHT, steps=steps))
    (tolerances,) = finding.evidence
    assert isinstance(tolerances, Tolerances)
    assert list(tolerances.by_dtype) == ["float32"]
    assert finding.message == "Every case agrees with the reference on x=8 and x=4."
