"""Every way in which the grader refuses or gives up, on one page.

MeshgradeError
├── SubmissionFault      rejected: the submission is at fault, `reason` says how
├── GraderFault          failed: ours, retried, never charged to the student
│   ├── WallMissing      a wall cannot be built, so nothing is graded
│   └── LostRunner       the runner was killed from outside, by nobody that a submission could be
├── PackageInvalid       a problem folder breaks its contract; lists every fault
└── Cancelled            the caller asked to stop
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
    """The grader is at fault: the attempt is retried, and operators are told."""


class WallMissing(GraderFault):
    """One of the walls cannot be built here.

    Args:
      wall: its name, as in `Verdict.walls`.
      found: what crossing it, or building it, gave.
      remedy: what to install or allow, as a command where there is one.
    """

    def __init__(self, wall: str, found: str, remedy: str) -> None:
        super().__init__(f"the wall '{wall}' is missing: {found}. To mend it: {remedy}")
        self.wall = wall
        self.found = found
        self.remedy = remedy


class LostRunner(GraderFault):
    """The runner went away through no doing of the submission: the attempt is worth another try."""


class PackageInvalid(MeshgradeError):
    """A problem folder breaks its contract. The message lists every fault, one a line."""

    def __init__(self, folder: str, faults: list[str]) -> None:
        super().__init__(f"{folder} is not a problem package:\n" + "\n".join(f"  - {fault}" for fault in faults))
        self.faults = faults


class Cancelled(MeshgradeError):
    """The caller asked the judge to stop."""
