"""The single path from a submission to a verdict."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from grader.answers.question_variants import Variants
from grader.core.case import Case
from grader.core.chips import ChipName
from grader.core.context import QUIET, Context
from grader.core.errors import Cancelled, GraderFault, LostRunner, SubmissionFault, WallMissing
from grader.explorer.script import Printed, run_script
from grader.inputs.explored_function import Function
from grader.inputs.own_inputs import OwnInputs
from grader.judging.references import References, SharedAnswers
from grader.mistakes.known_mistakes import RUNS, KnownMistakes
from grader.modes import Modes
from grader.modes.mode import GradingRequest
from grader.modes.report import NO_OUTPUT, Report
from grader.package.package import Package
from grader.program.measurement import Measured, OnFirst
from grader.sandbox.background_gate import BackgroundGate
from grader.sandbox.protocol import Sandbox
from grader.sandbox.retry_backoff import RetryBackoff
from grader.verdicts.package_study import Answers, Watch
from grader.verdicts.verdict import Verdict

log = logging.getLogger("meshgrade.judge")


class Judge:
    """Grades submissions behind a sandbox. Threads may share one.

    Args:
      sandbox: where all submitted code and all code of a package runs.
      secret: the deployment's secret; hidden inputs are derived from it.
      cache: a folder for reference answers, which no other user can write.
      tries: grade a submission at most this many times if its runner is killed from outside, then report `failed`. Use
        1 if a queue counts the tries.
      known_runs: run at most this many known wrong submissions to explain a rejection.
    """

    def __init__(self, sandbox: Sandbox, secret: bytes, cache: Path, *, tries: int = 3, known_runs: int = RUNS) -> None:
        self._sandbox = sandbox
        self._tries = tries
        self._known_runs = known_runs
        self._idle = BackgroundGate()
        self._modes = Modes(sandbox, secret, self._idle)
        self._references = References(self._modes, secret, cache, self._idle)

    def prepare(self, package: Package, context: Context = QUIET, *, background: bool = False) -> None:
        """Compute and cache the reference's answers, so the first submission need not wait.

        Args:
          background: pause while a submission is graded, and yield to one that needs the same answers.
        Raises:
          GraderFault, WallMissing: the reference could not be run.
          Cancelled: the caller stopped it, or, in the background, a submission took over.
        """
        with nullcontext() if background else self._idle.interrupted():
            self._references.prepare(package, context, background=background)
        if not background:
            self.warm(package)

    def share(self, answers: SharedAnswers) -> None:
        """Look in `answers` for a reference's answers before computing them, and offer them the computed ones."""
        self._references.shared = answers

    @property
    def setbacks(self) -> RetryBackoff:
        """The package versions whose preparation failed and will be retried."""
        return self._references.setbacks

    def warm(self, package: Package) -> None:
        """Start runners for this problem, because a submission may come soon. Returns at once."""
        self._modes.of(package).warm()

    def next_draw(self, package: Package) -> str | None:
        """A new and random name for an attempt, to pass to `judge` as `draw`; see `Modes.next_draw`."""
        return self._modes.next_draw(package)

    def inspect(
        self,
        package: Package,
        source: str,
        context: Context = QUIET,
        *,
        chip: ChipName | None = None,
        options: Mapping[str, str] | None = None,
        on_first: OnFirst | None = None,
    ) -> tuple[Measured, ...]:
        """Compile a submission for every mesh and return what was measured, without a verdict.

        Args:
          chip: compile each program for a slice of these chips, too.
          options: of XLA for a GPU, in the form of `grader.core.xla_options`, beside those that the source sets.
          on_first: called with the first program as soon as it is verified, from any thread, unless that is all that
            there is to compile. It is not compiled for the chip yet.
        Raises:
          SubmissionFault: the submission has no program; the message says why.
          GraderFault, WallMissing: the reference could not be run, or the problem is not in program mode.
          Cancelled: the caller stopped it.
        """
        with self._idle.interrupted():
            context.progress("starting")
            prepared = self._references.prepare(package, context)
            return self._modes.of(package).inspect(prepared, source, context, chip, options or {}, on_first)

    def inspect_function(
        self,
        function: Function,
        source: str,
        context: Context = QUIET,
        *,
        chip: ChipName | None = None,
        options: Mapping[str, str] | None = None,
        on_first: OnFirst | None = None,
    ) -> tuple[Measured, ...]:
        """Like `inspect`, for a function that belongs to no problem."""
        with self._idle.interrupted():
            context.progress("starting")
            return self._modes.inspect_function(function, source, context, chip, options or {}, on_first)

    def run_script(self, source: str, context: Context = QUIET) -> Printed:
        """Run a script on 8 host devices and return what it prints, without a verdict.

        Raises:
          GraderFault, WallMissing: the script could not be run.
          Cancelled: the caller stopped it.
        """
        with self._idle.interrupted():
            return run_script(source, self._sandbox, context)

    def answers(self, package: Package, context: Context = QUIET, cases: Sequence[Case] | None = None) -> Answers:
        """Return what the reference computes for the package's cases, or for `cases`. Raises the errors of `prepare`.

        The result includes hidden cases, so show it only to the author.
        """
        with self._idle.interrupted():
            mode, prepared = self._modes.of(package), self._references.prepare(package, context)
            if cases is not None:
                prepared = mode.prepare_cases(cases, context)
            return Answers(prepared.cases, mode.answers(prepared))

    def variants(self, package: Package, context: Context = QUIET) -> Variants | None:
        """Return the questions in answer mode, or None in any other mode. Raises the errors of `prepare`."""
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
        """Grade one submission and return its verdict. A fault of the grader gives the status `failed`.

        Args:
          hidden: False for a run, which uses only public cases and has no score.
          draw: the attempt's unique name, from which call mode draws the attempt's hidden inputs; the same name gives
            the same inputs. With None, and in program mode, whose submissions never see a hidden input, all attempts
            share the hidden inputs of the cached answers.
          own: inputs that replace the public cases of a run.
          watch: called with what the grading measured, unless nothing ran.
        Raises:
          WallMissing: a wall could not be built, so nothing was executed.
          Cancelled: the caller stopped it.
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
            # Fail closed: an unexpected error is the grader's fault, is logged for operators, and is never a pass.
            log.exception("%s could not be judged", package.slug)
        return report.failed()
