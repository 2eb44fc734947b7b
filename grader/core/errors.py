"""All errors of the grader.

MeshgradeError
├── SubmissionFault      rejected: the submission is at fault; `reason` says why
├── GraderFault          failed: ours, retried, never charged to the student
│   ├── WallMissing      a wall cannot be built, so nothing is graded
│   └── LostRunner       the runner was killed from outside, and not by a submission
├── InputsUnfit          typed inputs are not what the problem takes; lists every fault
├── PackageInvalid       a problem folder breaks its contract; in grader/package/fault.py
└── Cancelled            the caller asked the judge to stop
"""

from grader.core.reasons import Reason

# Longer first lines of messages are cut in headlines.
_HEADLINE = 300


class MeshgradeError(Exception):
    """Root; never raised itself."""


class SubmissionFault(MeshgradeError):
    """The submission is at fault. `detail` is data for a page (line, column, traceback) without hidden values."""

    def __init__(self, reason: Reason, message: str, **detail: object) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.detail = detail

    @property
    def headline(self) -> str:
        """The exception on one line, without its traceback. It can contain values."""
        name = self.detail.get("type")
        line = str(self).partition("\n")[0][:_HEADLINE]
        return ": ".join(filter(None, (name if isinstance(name, str) else "", line)))


class GraderFault(MeshgradeError):
    """The grader is at fault: the attempt is retried, and operators are notified."""


class WallMissing(GraderFault):
    """A wall cannot be built on this machine.

    Args:
      wall: its name, as in `Verdict.walls`.
      found: what happened when it was built or probed.
      remedy: what to install or allow, as a command if possible.
    """

    def __init__(self, wall: str, found: str, remedy: str) -> None:
        super().__init__(f"the wall '{wall}' is missing: {found}. To fix it: {remedy}")
        self.wall = wall
        self.found = found
        self.remedy = remedy


class LostRunner(GraderFault):
    """The runner ended for a reason other than the submission, so grade again."""


class InputsUnfit(MeshgradeError):
    """Typed inputs of a run do not fit the problem. `faults` maps argument names to messages."""

    def __init__(self, faults: dict[str, str]) -> None:
        super().__init__(" ".join(f"{name}: {fault}" for name, fault in faults.items()))
        self.faults = faults


class Cancelled(MeshgradeError):
    """The caller asked the judge to stop."""
