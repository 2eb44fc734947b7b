"""What a check looks at, and what it says."""

from dataclasses import dataclass, field
from typing import Any

from grader.compare import Mismatch
from grader.errors import SubmissionFault
from grader.package.package import Tolerance
from grader.verdict import Reason

Tolerances = dict[str, Tolerance]


@dataclass(frozen=True, slots=True)
class Case:
    """One input: argument name to value, in the order of the entry point's parameters."""

    id: str
    public: bool
    inputs: dict[str, object]


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


@dataclass(frozen=True, slots=True)
class Finding:
    """A check's answer. `reason` is None exactly when it passed."""

    passed: bool
    message: str
    reason: Reason | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
