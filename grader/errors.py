"""All errors of the grader, on one page.

MeshgradeError
├── SubmissionFault      rejected: the submission is at fault; `reason` says why
├── GraderFault          failed: ours, retried, never charged to the student
│   ├── WallMissing      a wall cannot be built, so nothing is graded
│   └── LostRunner       the runner was killed from outside, and not by a submission
├── InputsUnfit          typed inputs are not what the problem takes; lists every fault
├── PackageInvalid       a problem folder breaks its contract; in grader/package/fault.py
└── Cancelled            the caller asked the judge to stop
"""

from grader.reasons import Reason


class MeshgradeError(Exception):
    """Root; never raised itself."""


class SubmissionFault(MeshgradeError):
    """The submission is at fault. `detail` holds data for a page (line, column, traceback), no hidden value."""

    def __init__(self, reason: Reason, message: str, **detail: object) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.detail = detail


class GraderFault(MeshgradeError):
    """The grader is at fault: the attempt is retried, and operators are notified."""


class WallMissing(GraderFault):
    """One of the walls cannot be built here.

    Args:
      wall: its name, as in `Verdict.walls`.
      found: the result of building it or of trying to cross it.
      remedy: what to install or allow, as a command if possible.
    """

    def __init__(self, wall: str, found: str, remedy: str) -> None:
        super().__init__(f"the wall '{wall}' is missing: {found}. To fix it: {remedy}")
        self.wall = wall
        self.found = found
        self.remedy = remedy


class LostRunner(GraderFault):
    """The runner ended, and not because of the submission: the attempt is worth another try."""


class InputsUnfit(MeshgradeError):
    """Inputs that the author of a run typed do not fit the problem. `faults` has a message for each argument."""

    def __init__(self, faults: dict[str, str]) -> None:
        super().__init__(" ".join(f"{name}: {fault}" for name, fault in faults.items()))
        self.faults = faults


class Cancelled(MeshgradeError):
    """The caller asked the judge to stop."""
