"""The interface between the judge and a mode: how the problems of a mode are prepared, graded and inspected.

The judge knows this module and no mode. A mode is a package in this folder, and a row in `grader/modes/__init__.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from grader.case import Case
from grader.chips import ChipName
from grader.context import Context
from grader.errors import GraderFault
from grader.known import KnownMistakes
from grader.own import OwnInputs
from grader.program.measured import Leaves, Measured
from grader.report import Report
from grader.sandbox.protocol import Sandbox
from grader.study import Watch
from grader.variants import Variants
from grader.verdict import Verdict


class Prepared(Protocol):
    """The basis of grading: the cases, public ones first. A mode adds the results of the reference."""

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
      own: the inputs of a run that its author chose, instead of the public cases.
      watch: called once with what the grading measured, for the author of the package.
      known: asked only if something is wrong.
    """

    source: str
    hidden: bool
    draw: str | None
    known: KnownMistakes
    report: Report
    context: Context
    own: OwnInputs | None = None
    watch: Watch | None = None


class Grading(Protocol):
    """The grading of one submission. It may start again if a runner was lost."""

    def grade(self) -> Verdict:
        """Raises: LostRunner, GraderFault, WallMissing, Cancelled."""
        ...


class Mode(Protocol[P]):
    """One mode, for one package. It keeps nothing from one call to the next.

    All of its methods raise GraderFault if the package's own code is at fault, WallMissing, and Cancelled.
    """

    def warm(self) -> None:
        """A submission to this problem may come soon. Returns at once."""

    def prepare(self, sandbox: Sandbox, key: str, context: Context) -> P:
        """Make the cases and run the reference on them, in `sandbox`.

        Args:
          key: hidden cases are drawn from it.
        """

    def prepare_own(self, prepared: P, own: OwnInputs, context: Context) -> P:
        """Draw the inputs that the author of a run chose, and run the reference on them.

        Raises:
          SubmissionFault: the reference cannot run on them.
        """

    def prepare_cases(self, cases: Sequence[Case], context: Context) -> P:
        """Run the reference on these cases instead of the package's."""

    def answers(self, prepared: P) -> dict[str, dict[str, Leaves]]:
        """The arrays that the reference returns in the end, by mesh ("" without one) and case."""
        return {}

    def variants(self, prepared: P) -> Variants | None:
        """The questions that were drawn, in a mode that asks them."""
        return None

    def store(self, folder: Path, prepared: P) -> None: ...

    def load(self, folder: Path) -> P | None:
        """None if it was not stored, or not completely."""

    def begin(self, prepared: P, request: GradingRequest) -> Grading:
        """Start the work that does not need the submission, whose own code runs only in `Grading.grade`."""

    def inspect(self, prepared: P, source: str, context: Context, chip: ChipName | None) -> tuple[Measured, ...]:
        """Report what a submission compiles to, without judging it.

        Args:
          chip: compile each program for a slice of these TPUs as well.
        Raises:
          SubmissionFault: it gives no program; the message says why.
          GraderFault: nothing is compiled in this mode.
        """
        raise GraderFault("a problem of this mode has no compiled program")
