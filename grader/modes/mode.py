"""The interface between the judge and a mode: how the problems of a mode are prepared, graded and inspected.

The judge knows this module and no mode. A mode is a package in this folder, and a row in `grader/modes/__init__.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from grader.answers.question_variants import Variants
from grader.core.case import Case
from grader.core.chips import ChipName
from grader.core.context import Context
from grader.core.errors import GraderFault
from grader.inputs.own_inputs import OwnInputs
from grader.mistakes.known_mistakes import KnownMistakes
from grader.modes.report import Report
from grader.program.measurement import Leaves, Measured, OnFirst
from grader.sandbox.protocol import Sandbox
from grader.verdicts.package_study import Watch
from grader.verdicts.verdict import Verdict


class Prepared(Protocol):
    """What grading starts from: the cases, public ones first. Each mode adds the reference's results."""

    @property
    def cases(self) -> tuple[Case, ...]: ...


P = TypeVar("P", bound=Prepared)


@dataclass(frozen=True, slots=True)
class GradingRequest:
    """One submission, and how to grade it.

    Attributes:
      hidden: False for a run, which uses only public cases and has no score.
      draw: the attempt's unique name, if the mode draws hidden inputs for each attempt; None to use prepared ones.
      known: explains a rejection.
      report: collects timings and the environment, and makes the verdict.
      own: inputs that replace the public cases of a run.
      watch: called once with what the grading measured, for the author of the package.
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
    """The grading of one submission. Call `grade` again after `LostRunner`."""

    def grade(self) -> Verdict:
        """Return the verdict. Raises LostRunner, GraderFault, WallMissing and Cancelled."""
        ...


class Mode(Protocol[P]):
    """One mode, for one package. It keeps no state between calls.

    Every method may raise GraderFault (the package's own code failed), WallMissing and Cancelled.
    """

    def warm(self) -> None:
        """Start runners, because a submission may come soon. Returns at once."""

    def prepare(self, sandbox: Sandbox, key: str, context: Context) -> P:
        """Make the cases and run the reference on them, in `sandbox`.

        Args:
          key: the key that hidden cases are drawn from.
        """

    def prepare_own(self, prepared: P, own: OwnInputs, context: Context) -> P:
        """Make the cases that the author of a run chose, and run the reference on them.

        Raises:
          SubmissionFault: the reference fails on them.
        """

    def prepare_cases(self, cases: Sequence[Case], context: Context) -> P:
        """Run the reference on these cases instead of the package's."""

    def answers(self, prepared: P) -> dict[str, dict[str, Leaves]]:
        """Return the arrays that the reference computes last, by mesh ("" without one) and case id."""
        return {}

    def variants(self, prepared: P) -> Variants | None:
        """Return the drawn questions, in a mode that has them."""
        return None

    def store(self, folder: Path, prepared: P) -> None: ...

    def load(self, folder: Path) -> P | None:
        """Return what `store` wrote; None if it is missing or incomplete."""

    def begin(self, prepared: P, request: GradingRequest) -> Grading:
        """Start the work that does not need the submission. Its code runs only in `Grading.grade`."""

    def inspect(
        self,
        prepared: P,
        source: str,
        context: Context,
        chip: ChipName | None,
        options: Mapping[str, str],
        on_first: OnFirst | None = None,
    ) -> tuple[Measured, ...]:
        """Compile a submission for every mesh and return what was measured, without a verdict.

        Args:
          chip: compile each program for a slice of these chips, too.
          options: of XLA for a GPU, beside those that the source sets.
          on_first: called from another thread, unless the first program is all that there is to compile. It is not
            compiled for the chip yet.
        Raises:
          SubmissionFault: the submission has no program; the message says why.
          GraderFault: this mode compiles nothing.
        """
        raise GraderFault("a problem of this mode has no compiled program")
