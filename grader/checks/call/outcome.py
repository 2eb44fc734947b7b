"""What a check of a function looks at."""

from dataclasses import dataclass
from typing import Any

from grader.case import Case
from grader.compare import Mismatch
from grader.errors import SubmissionFault
from grader.package.package import Tolerance

Tolerances = dict[str, Tolerance]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call returned, and the calls that the spies saw in it."""

    result: object
    observed: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case of one grading.

    `got` is None when the call did not come back: then `fault` says why, or nothing was run any more.
    `mismatch` is how the result differs from the reference's.
    """

    case: Case
    expected: Answer
    got: Answer | None
    fault: SubmissionFault | None
    mismatch: Mismatch | None
