"""The input of a check in call mode."""

from dataclasses import dataclass
from typing import Any

from grader.checks.compare import Mismatch
from grader.core.case import Case
from grader.core.errors import SubmissionFault
from grader.package.package import Tolerance

Tolerances = dict[str, Tolerance]
# What a spy recorded. Our runner wrote the reference's records; a submission's can have any form.
Observed = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one call, and the calls that the spies observed during it."""

    result: object
    observed: list[Observed]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case of one grading.

    `got` is None if the call did not return. `fault` is then the cause, or None if an earlier case ended the process.
    `mismatch` is the first difference from the reference's result.
    """

    case: Case
    expected: Answer
    got: Answer | None
    fault: SubmissionFault | None
    mismatch: Mismatch | None


@dataclass(frozen=True, slots=True)
class CallSubject:
    """All facts about one submission: its calls, the tolerances of their results, and its source."""

    outcomes: list[Outcome]
    tolerances: Tolerances
    source: str = ""
