"""The one path from a submission to a verdict."""

import logging
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from grader.context import QUIET, Context
from grader.errors import Cancelled, GraderFault, LostRunner, SubmissionFault, WallMissing
from grader.idle import Idle
from grader.modes.call.draws import Draws
from grader.modes.call.grading import CallGrading
from grader.modes.program.examine import examine
from grader.modes.program.grading import ProgramGrading
from grader.package.package import Package
from grader.prepared import KnownMistake
from grader.program.measured import Measured
from grader.references import References, runner_spec
from grader.report import Report
from grader.sandbox.protocol import Sandbox
from grader.verdict import Verdict

log = logging.getLogger("meshgrade.judge")

_MAX_SOURCE_BYTES = 128 << 10


class Judge:
    """Grades submissions behind a sandbox. Threads may share one.

    Args:
      sandbox: where all submitted code and all code of a package runs.
      secret: the deployment's; hidden inputs are derived from it.
      cache: a folder of ours alone for reference answers.
      tries: how often a submission is graded before a runner that somebody else kills each time makes it `failed`.
        One where a queue counts.
      wait_for_known: how many known wrong submissions, those it is likeliest to be, a wrong submission waits for where
        they have not been run yet. None where something runs them when nothing is graded.
    """

    def __init__(
        self, sandbox: Sandbox, secret: bytes, cache: Path, *, tries: int = 3, wait_for_known: int = 3
    ) -> None:
        self._sandbox = sandbox
        self._tries = tries
        self._wait_for_known = wait_for_known
        self._idle = Idle()
        self._references = References(sandbox, secret, cache, self._idle)
        self._draws = Draws(sandbox, secret)

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
        self.warm(package)

    def prepare_known(self, package: Package, context: Context = QUIET) -> None:
        """Have the known wrong submissions run, in the background. Raises as above."""
        self._references.prepare_known(package, context)

    def warm(self, package: Package) -> None:
        """A submission to this problem may come soon. Returns at once."""
        self._sandbox.warm(runner_spec(package))

    def inspect(self, package: Package, source: str, context: Context = QUIET) -> tuple[Measured, ...]:
        """Compile a submission to a problem of mode program for every mesh, and say what it is like, without judging.

        Raises:
          SubmissionFault: it gives no program; the message says why.
          GraderFault, WallMissing: it cannot be had, in another mode never.
          Cancelled: it was stopped.
        """
        manifest = package.manifest
        if manifest.mode != "program":
            raise GraderFault(f"{package.slug}: a problem of mode {manifest.mode} has no compiled program")
        _check_size(source)
        context.progress("starting")
        with self._idle.interrupted():
            cases = [case for case in self._references.prepare(package, context).cases if case.public]
            with self._sandbox.open(runner_spec(package), context.stop) as session:
                context.progress("importing")
                session.load(source, manifest.entry)
                examined = examine(manifest, cases, self._sandbox, session, context)
        return tuple(each.measured for each in examined.programs)

    def judge(
        self,
        package: Package,
        source: str,
        context: Context = QUIET,
        *,
        hidden: bool = True,
        draw: str | None = None,
    ) -> Verdict:
        """Grade one submission.

        Args:
          hidden: False for a run: public cases only, and no score.
          draw: a name of the attempt's own: in call mode it is then graded on hidden inputs that no other attempt has,
            and on the same ones when it is graded again. None for those that the reference's answers are kept of. In
            program mode no submission's process is given a hidden input, so all attempts have the same.
        Raises:
          WallMissing: a wall cannot be built. Nothing was executed.
          Cancelled: it was stopped.
        """

        def known(*, wrong_result: bool) -> Iterator[KnownMistake]:
            return self._references.known(
                package, source, context, wrong_result=wrong_result, at_most=self._wait_for_known
            )

        report = Report(package, hidden=hidden, walls=self._sandbox.walls)

        def grade() -> Verdict:
            with self._sandbox.open(runner_spec(package), context.stop) as session:
                report.environment = session.environment
                try:
                    _check_size(source)
                except SubmissionFault as fault:
                    return report.never_ran(fault, session.output())
                if package.manifest.mode == "program":
                    program = ProgramGrading(package.manifest, report, self._sandbox, context, hidden=hidden)
                    return program.grade(prepared, known, source, session)
                return CallGrading(package, report, context, hidden=hidden).grade(
                    prepared, known, source, session, drawing
                )

        try:
            with self._idle.interrupted():
                context.progress("starting")
                prepared = self._references.prepare(package, context)
                drawing = None
                if draw is not None and hidden and package.manifest.mode == "call":
                    everybodys = [case for case in prepared.cases if not case.public]
                    drawing = self._draws.begin(package, draw, everybodys, context.stop)
                for _ in range(self._tries - 1):
                    try:
                        return grade()
                    except LostRunner as lost:
                        log.warning("%s is graded again: %s", package.slug, lost)
                return grade()
        except (Cancelled, WallMissing):
            raise
        except GraderFault as fault:
            log.error("%s could not be judged: %s", package.slug, fault)
        except Exception:
            # Fail closed: what nobody foresaw is our fault, is told to operators, and is never a pass.
            log.exception("%s could not be judged", package.slug)
        return report.failed()


def _check_size(source: str) -> None:
    """The service and the command line refuse far shorter ones, with an answer of their own."""
    size = len(source.encode("utf-8", "replace"))
    if size > _MAX_SOURCE_BYTES:
        told = f"The source has {size:,} bytes; the judge takes at most {_MAX_SOURCE_BYTES:,}."
        raise SubmissionFault("syntax_error", told)
