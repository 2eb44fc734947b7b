"""The seam between the judge and a mode: how the problems of a mode are prepared, graded and inspected.

The judge knows this page and no mode. A mode is a package beside it, and a row in `grader/modes/__init__.py`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from grader.case import Case
from grader.context import Context, Stop
from grader.errors import GraderFault
from grader.known import AskForKnownMistakes, KnownMistake
from grader.package.package import KnownSubmission
from grader.program.measured import Measured
from grader.report import Report
from grader.sandbox.protocol import Sandbox
from grader.verdict import Verdict


class Prepared(Protocol):
    """What submissions are graded by: the cases, public ones first. A mode adds what the reference gives for them."""

    @property
    def cases(self) -> tuple[Case, ...]: ...


P = TypeVar("P", bound=Prepared)


@dataclass(frozen=True, slots=True)
class GradingRequest:
    """One submission, and how it is to be graded.

    Attributes:
      report: takes timings and the environment, and makes the verdict.
      hidden: False for a run: public cases only, and no score.
      draw: names the hidden inputs that this attempt alone has, in a mode that draws them. None for the prepared ones.
      known: asked for known wrong submissions only where something is wrong, and until one is like this.
    """

    source: str
    hidden: bool
    draw: str | None
    known: AskForKnownMistakes
    report: Report
    context: Context


class Grading(Protocol):
    """The grading of one submission. It may be begun again where a runner was lost."""

    def grade(self) -> Verdict:
        """Raises: LostRunner, GraderFault, WallMissing, Cancelled."""
        ...


class Mode(Protocol[P]):
    """One mode, for one package. It keeps nothing from one call to the next.

    All of its methods raise GraderFault where the package's own code is at fault, WallMissing, and Cancelled.
    """

    def warm(self) -> None:
        """A submission to this problem may come soon. Returns at once."""

    def prepare(self, sandbox: Sandbox, key: str, context: Context) -> P:
        """Make the cases and have the reference run on them, in `sandbox`.

        Args:
          key: hidden cases are drawn from it.
        """

    def store(self, folder: Path, prepared: P) -> None: ...

    def load(self, folder: Path) -> P | None:
        """None where it has not been stored, or not to the end."""

    def run_known(self, sandbox: Sandbox, prepared: P, submission: KnownSubmission, stop: Stop) -> KnownMistake:
        """Run a known wrong submission in a runner of its own: what it traces or changes may spoil the next."""

    def begin(self, prepared: P, request: GradingRequest) -> Grading:
        """Begin with what can be done beside the submission. Its own code runs in `Grading.grade` only."""

    def inspect(self, prepared: P, source: str, context: Context) -> tuple[Measured, ...]:
        """Say what a submission compiles to, without judging it.

        Raises:
          SubmissionFault: it gives no program; the message says why.
          GraderFault: nothing is compiled in this mode.
        """
        raise GraderFault("a problem of this mode has no compiled program")
