"""The one path from a submission to a verdict."""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from grader.case import Case
from grader.chips import ChipName
from grader.context import QUIET, Context
from grader.errors import Cancelled, GraderFault, LostRunner, SubmissionFault, WallMissing
from grader.function import Function
from grader.idle import Idle
from grader.known import RUNS, KnownMistakes
from grader.modes import Modes
from grader.modes.mode import GradingRequest
from grader.own import OwnInputs
from grader.package.package import Package
from grader.program.measured import Measured
from grader.references import References
from grader.report import NO_OUTPUT, Report
from grader.sandbox.protocol import Sandbox
from grader.sandbox.setbacks import Setbacks
from grader.script import Printed, run_script
from grader.study import Answers, Watch
from grader.variants import Variants
from grader.verdict import Verdict

log = logging.getLogger("meshgrade.judge")


class Judge:
    """Grades submissions behind a sandbox. Threads may share one.

    Args:
      sandbox: where all submitted code and all code of a package runs.
      secret: the deployment's; hidden inputs are derived from it.
      cache: a folder of ours alone for reference answers.
      tries: how often a submission is graded before a runner that somebody else kills each time makes it `failed`.
        One where a queue counts.
      known_runs: how many known wrong submissions may be run to explain one that is rejected.
    """

    def __init__(self, sandbox: Sandbox, secret: bytes, cache: Path, *, tries: int = 3, known_runs: int = RUNS) -> None:
        self._sandbox = sandbox
        self._tries = tries
        self._known_runs = known_runs
        self._idle = Idle()
        self._modes = Modes(sandbox, secret)
        self._references = References(self._modes, secret, cache, self._idle)

    def prepare(self, package: Package, context: Context = QUIET, *, background: bool = False) -> None:
        """Have the reference's answers ready, so that the first submission does not wait for them.

        Args:
          background: nobody waits: it rests while something is graded, and is left to a submission that needs the same.
        Raises:
          GraderFault, WallMissing: they cannot be had.
          Cancelled: it was stopped, or, in the background, a submission makes them itself.
        """
        with nullcontext() if background else self._idle.interrupted():
            self._references.prepare(package, context, background=background)
        if not background:
            self.warm(package)

    @property
    def setbacks(self) -> Setbacks:
        """The versions whose preparation failed and is tried again, no matter who asked for it."""
        return self._references.setbacks

    def warm(self, package: Package) -> None:
        """A submission to this problem may come soon. Returns at once."""
        self._modes.of(package).warm()

    def inspect(
        self, package: Package, source: str, context: Context = QUIET, *, chip: ChipName | None = None
    ) -> tuple[Measured, ...]:
        """Compile a submission to a problem of mode program for every mesh, and say what it is like, without judging.

        Args:
          chip: compile each program for a slice of these TPUs as well.
        Raises:
          SubmissionFault: it gives no program; the message says why.
          GraderFault, WallMissing: it cannot be had, in another mode never.
          Cancelled: it was stopped.
        """
        with self._idle.interrupted():
            context.progress("starting")
            prepared = self._references.prepare(package, context)
            return self._modes.of(package).inspect(prepared, source, context, chip)

    def inspect_function(
        self, function: Function, source: str, context: Context = QUIET, *, chip: ChipName | None = None
    ) -> tuple[Measured, ...]:
        """Compile a function that belongs to no problem, and say what it is like. As `inspect`."""
        with self._idle.interrupted():
            context.progress("starting")
            return self._modes.inspect_function(function, source, context, chip)

    def run_script(self, source: str, context: Context = QUIET) -> Printed:
        """Run a script on 8 host devices, and return what it prints. Nothing is judged.

        Raises:
          GraderFault, WallMissing: it could not be run.
          Cancelled: it was stopped.
        """
        with self._idle.interrupted():
            return run_script(source, self._sandbox, context)

    def answers(self, package: Package, context: Context = QUIET, cases: Sequence[Case] | None = None) -> Answers:
        """What the reference returns for the package's cases, or for others. Hidden cases are among them, so it is for
        the author alone. Raises as `prepare` does.
        """
        with self._idle.interrupted():
            mode, prepared = self._modes.of(package), self._references.prepare(package, context)
            if cases is not None:
                prepared = mode.prepare_cases(cases, context)
            return Answers(prepared.cases, mode.answers(prepared))

    def variants(self, package: Package, context: Context = QUIET) -> Variants | None:
        """The questions of a problem of mode answer; None in every other mode. Raises as `prepare` does."""
        with self._idle.interrupted():
            return self._modes.of(package).variants(self._references.prepare(package, context))

    def judge(
        self,
        package: Package,
        source: str,
        context: Context = QUIET,
        *,
        hidden: bool = True,
        draw: str | None = None,
        own: OwnInputs | None = None,
        watch: Watch | None = None,
    ) -> Verdict:
        """Grade one submission.

        Args:
          hidden: False for a run: public cases only, and no score.
          draw: a name of the attempt's own: in call mode it is then graded on hidden inputs that no other attempt has,
            and on the same ones when it is graded again. None for those that the reference's answers are kept of. In
            program mode no submission's process is given a hidden input, so all attempts have the same.
          own: inputs that replace the public cases of a run.
          watch: called with what the grading measured, for the author of the package. Not called if nothing ran.
        Raises:
          WallMissing: a wall cannot be built. Nothing was executed.
          Cancelled: it was stopped.
        """

        report = Report(package, hidden=hidden, walls=self._sandbox.walls)

        try:
            with self._idle.interrupted():
                context.progress("starting")
                prepared = self._references.prepare(package, context)
                mode = self._modes.of(package)
                if own is not None:
                    try:
                        prepared = mode.prepare_own(prepared, own, context)
                    except SubmissionFault as fault:
                        return report.never_ran(fault, NO_OUTPUT)
                known = KnownMistakes(package, source, runs=0 if own else self._known_runs)
                request = GradingRequest(source, hidden, draw, known, report, context, own, watch)
                grading = mode.begin(prepared, request)
                for _ in range(self._tries - 1):
                    try:
                        return grading.grade()
                    except LostRunner as lost:
                        log.warning("%s is graded again: %s", package.slug, lost)
                return grading.grade()
        except (Cancelled, WallMissing):
            raise
        except GraderFault as fault:
            log.error("%s could not be judged: %s", package.slug, fault)
        except Exception:
            # Fail closed: an unforeseen error is our fault, is logged for operators, and is never a pass.
            log.exception("%s could not be judged", package.slug)
        return report.failed()
