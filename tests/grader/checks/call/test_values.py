"""What a result says about the cases of a function. Nothing ran: the outcomes are made up."""

import numpy as np

from grader.checks.call import values
from grader.checks.call_outcome import Answer, CallSubject, Outcome
from grader.checks.finding import Finding
from grader.core.case import Case

RIGHT = Answer(np.ones(1, np.float32), [])


def outcome(case: str, got: Answer | None = RIGHT) -> Outcome:
    return Outcome(Case(case, case.startswith("public"), {}), RIGHT, got, None, None)


def check(*outcomes: Outcome) -> Finding:
    return values.check(CallSubject([*outcomes], {}), values.Bounds())


def test_a_case_that_did_not_run_fails_without_a_fault_of_its_own():
    """An earlier case had ended the process."""
    finding = check(outcome("public-1"), outcome("hidden-1", None))
    assert (finding.passed, finding.reason, finding.message) == (False, "killed", "Some cases did not run.")


def test_the_cases_that_agree_are_counted():
    texts = [check(*(outcome(f"hidden-{each}") for each in range(count))).message for count in (1, 2, 3)]
    assert texts == [
        f"{text} with the reference." for text in ("The case agrees", "Both cases agree", "All 3 cases agree")
    ]
