"""Load and grade a submission in its own runner."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from grader.core.errors import SubmissionFault
from grader.modes.mode import GradingRequest
from grader.sandbox.faults import fault_during
from grader.sandbox.metered_sandbox import MeteredSandbox
from grader.sandbox.protocol import RunnerSpec, Sandbox, Session
from grader.verdicts.package_study import PackageStudy, ProgramTraffic
from grader.verdicts.verdict import Verdict

_MAX_SOURCE_BYTES = 128 << 10


def load_submission(
    session: Session,
    source: str,
    entry: str,
    *,
    devices: int | None = None,
    modules: Mapping[str, str] | None = None,
) -> None:
    """Run a submission as a module, which must define the function `entry`. It sees `devices` devices, and can import
    further `modules`.

    Raises:
      SubmissionFault: the source is too long, or `Session.load` fails. The service and the command line have a much
        lower limit, with their own message.
    """
    size = len(source.encode("utf-8", "replace"))
    if size > _MAX_SOURCE_BYTES:
        message = f"The source has {size:,} bytes; the judge accepts at most {_MAX_SOURCE_BYTES:,}."
        raise SubmissionFault("syntax_error", message)
    try:
        session.load(source, entry, devices=devices, modules=modules)
    except SubmissionFault as fault:
        if "traceback" in fault.detail:
            raise
        # The process was stopped from outside, so no line is known.
        raise fault_during(fault, f"your file was loaded, before `{entry}` was called") from None


class RunnerGrading(ABC):
    """A `Grading` that opens and closes its own session."""

    def __init__(self, request: GradingRequest, sandbox: Sandbox, spec: RunnerSpec) -> None:
        self._request = request
        self._report = request.report
        self._context = request.context
        self._meter = MeteredSandbox(sandbox)
        self._sandbox: Sandbox = sandbox if request.watch is None else self._meter
        self._spec = spec
        # What the author of the package sees; see `PackageStudy`.
        self._errors: dict[str, float] = {}
        self._traffic: tuple[ProgramTraffic, ...] = ()

    def grade(self) -> Verdict:
        """See `Grading`."""
        with self._sandbox.open(self._spec, self._context.stop) as session:
            self._report.environment = session.environment
            try:
                verdict = self._grade(session)
            except SubmissionFault as fault:
                # The submission is at fault, wherever it was noticed. A mode handles only faults that it can survive.
                verdict = self._report.never_ran(fault, session.output())
            spent = session.spent
        if not isinstance(verdict, Verdict):
            verdict = verdict()
        if self._request.watch is not None:
            self._request.watch(PackageStudy(self._errors, (spent, *self._meter.spent), self._traffic))
        return verdict

    @abstractmethod
    def _grade(self, session: Session) -> Verdict | Callable[[], Verdict]:
        """Load and grade the submission. Raising SubmissionFault rejects it.

        Returns:
          the verdict, or a function that makes it once the submission's process has ended.
        """

    def _load(self, session: Session, entry: str, modules: Mapping[str, str]) -> None:
        self._context.progress("importing")
        started = time.monotonic()
        try:
            load_submission(session, self._request.source, entry, modules=modules)
        finally:
            self._report.import_s = time.monotonic() - started
