"""The one path from a submission to a verdict."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader import checks
from grader.checks.outcome import Answer, Case, Finding, Outcome
from grader.compare import compare, show
from grader.errors import Cancelled, GraderFault, LostRunner, SubmissionFault, WallMissing
from grader.package.package import Package
from grader.prepared import Known, Prepared, answer_of
from grader.references import References, runner_spec
from grader.sandbox.protocol import Output, Sandbox, Session
from grader.text import storable
from grader.verdict import CaseResult, CheckResult, Reason, Status, Timings, Verdict

log = logging.getLogger("meshgrade.judge")

Progress = Callable[[str], None]
_NO_OUTPUT = Output(stdout="", stderr="", truncated=False)
_MAX_SOURCE_BYTES = 128 << 10
_FAILED = "The grader failed, not your code. This is not counted, and its operators have been told."


def _silent(phase: str) -> None:
    return None


class Judge:
    """Grades submissions behind a sandbox. Threads may share one.

    Args:
      sandbox: where all submitted code and all code of a package runs.
      secret: the deployment's; hidden inputs are derived from it.
      cache: a folder of ours alone for reference answers.
      tries: how often a submission is graded before a runner that somebody else kills each time makes it `failed`.
        One where a queue counts.
    """

    def __init__(self, sandbox: Sandbox, secret: bytes, cache: Path, *, tries: int = 3) -> None:
        self._sandbox = sandbox
        self._tries = tries
        self._references = References(sandbox, secret, cache)

    def prepare(self, package: Package, *, progress: Progress = _silent, stop: threading.Event | None = None) -> None:
        """Have the reference's answers ready, so that the first submission does not wait for them.

        Raises:
          GraderFault, WallMissing: they cannot be had.
          Cancelled: `stop` was set.
        """
        self._references.prepare(package, progress, stop)
        self.warm(package)
        self._references.known(package, progress, stop)

    def warm(self, package: Package) -> None:
        """A submission to this problem may come soon. Returns at once."""
        self._sandbox.warm(runner_spec(package))

    def judge(
        self,
        package: Package,
        source: str,
        *,
        hidden: bool = True,
        progress: Progress = _silent,
        stop: threading.Event | None = None,
    ) -> Verdict:
        """Grade one submission.

        Args:
          hidden: False for a run: public cases only, and no score.
          progress: told each phase in a few words, as it begins.
          stop: set it to give up; a session then ends within a tick.
        Raises:
          WallMissing: a wall cannot be built. Nothing was executed.
          Cancelled: `stop` was set.
        """

        def known() -> tuple[Known, ...]:
            return self._references.known(package, progress, stop)

        grading = _Grading(package, hidden, self._sandbox.walls, progress)
        try:
            progress("starting")
            prepared = self._references.prepare(package, progress, stop)
            for _ in range(self._tries - 1):
                try:
                    return grading.grade(prepared, known, source, self._sandbox, stop)
                except LostRunner as lost:
                    log.warning("%s is graded again: %s", package.slug, lost)
            return grading.grade(prepared, known, source, self._sandbox, stop)
        except (Cancelled, WallMissing):
            raise
        except GraderFault as fault:
            log.error("%s could not be judged: %s", package.slug, fault)
        except Exception:
            # Fail closed: what nobody foresaw is our fault, is told to operators, and is never a pass.
            log.exception("%s could not be judged", package.slug)
        return grading.failed()


class _Grading:
    """One submission on its way through; keeps what the verdict is made of."""

    def __init__(self, package: Package, hidden: bool, walls: tuple[str, ...], progress: Progress) -> None:
        self._package = package
        self._hidden = hidden
        self._walls = walls
        self._progress = progress
        self._started = time.monotonic()
        self._environment: dict[str, Any] = {}
        self._import_s = self._run_s = self._verify_s = 0.0

    def grade(
        self,
        prepared: Prepared,
        known: Callable[[], tuple[Known, ...]],
        source: str,
        sandbox: Sandbox,
        stop: threading.Event | None,
    ) -> Verdict:
        """`known` is asked for the known wrong submissions only where a value is wrong."""
        cases = [case for case in prepared.cases if case.public or self._hidden]
        manifest = self._package.manifest
        with sandbox.open(runner_spec(self._package), stop) as session:
            self._environment = session.environment
            try:
                self._progress("importing")
                started = time.monotonic()
                _check_size(source)
                session.request({"op": "load", "source": source, "entry": manifest.entry})
                self._import_s = time.monotonic() - started
            except SubmissionFault as fault:
                self._import_s = time.monotonic() - started
                return self._never_ran(fault, session.output())
            got = self._call_all(session, cases)
            output = session.output()
        self._progress("comparing")
        started = time.monotonic()
        outcomes = [self._outcome(case, prepared.answers[case.id], *got[case.id]) for case in cases]
        findings = {spec.id: checks.load(spec.id).check(outcomes, manifest.tolerance) for spec in manifest.checks}
        misconception = self._misconception(known, outcomes)
        self._verify_s = time.monotonic() - started
        return self._verdict(findings, [_case_result(outcome) for outcome in outcomes], output, misconception)

    def failed(self) -> Verdict:
        finding = Finding(False, _FAILED)
        return self._verdict(
            {spec.id: finding for spec in self._package.manifest.checks}, [], _NO_OUTPUT, None, "failed"
        )

    def _call_all(self, session: Session, cases: list[Case]) -> dict[str, tuple[Answer | None, SubmissionFault | None]]:
        """Call the entry point once a case; after a fault that ended the process nothing more is run."""
        got: dict[str, tuple[Answer | None, SubmissionFault | None]] = {case.id: (None, None) for case in cases}
        started = time.monotonic()
        sealed = False
        for number, case in enumerate(cases, 1):
            self._progress(f"case {number} of {len(cases)}")
            if not case.public and not sealed:
                # From here on what is printed may hold hidden inputs, so none of it may reach the verdict.
                session.seal_output()
                sealed = True
            try:
                _, values = session.request({"op": "call"}, {"args": list(case.inputs.values())})
                got[case.id] = (answer_of(values), None)
            except SubmissionFault as fault:
                got[case.id] = (None, fault)
                if fault.reason not in ("error", "missing_entry"):
                    break
        self._run_s = time.monotonic() - started
        return got

    def _outcome(self, case: Case, expected: Answer, got: Answer | None, fault: SubmissionFault | None) -> Outcome:
        mismatch = None
        if got is not None:
            mismatch = compare(expected.result, got.result, self._package.manifest.tolerance)
        return Outcome(case, expected, got, fault, mismatch)

    def _misconception(self, known: Callable[[], tuple[Known, ...]], outcomes: list[Outcome]) -> str | None:
        """The misunderstanding of the known wrong submission whose every result is this one's, if there is one."""
        results = {outcome.case.id: outcome.got.result for outcome in outcomes if outcome.got is not None}
        wrong = {outcome.case.id for outcome in outcomes if outcome.mismatch is not None}
        if not wrong or len(results) < len(outcomes):
            return None
        tolerances = self._package.manifest.tolerance
        for each in known():
            if each.results.keys() >= results.keys() and all(
                compare(each.results[name], result, tolerances) is None for name, result in results.items()
            ):
                return each.misunderstanding
        return None

    def _never_ran(self, fault: SubmissionFault, output: Output) -> Verdict:
        first, *rest = self._package.manifest.checks
        findings = {first.id: Finding(False, _fault_message(fault), fault.reason, dict(fault.detail))}
        findings |= {spec.id: Finding(False, "Not judged: no case was run.", fault.reason) for spec in rest}
        return self._verdict(findings, [], output, None)

    def _verdict(
        self,
        findings: dict[str, Finding],
        cases: list[CaseResult],
        output: Output,
        misconception: str | None,
        status: Status | None = None,
    ) -> Verdict:
        reason: Reason | None = next((finding.reason for finding in findings.values() if finding.reason), None)
        passed = all(finding.passed for finding in findings.values())
        status = status or ("accepted" if passed else "rejected")
        if status == "rejected" and reason is None:
            raise GraderFault("a check did not pass and gave no reason")
        results = [
            CheckResult(
                id=spec.id,
                title=spec.title or checks.load(spec.id).TITLE,
                passed=findings[spec.id].passed,
                points=spec.points if findings[spec.id].passed else 0,
                max_points=spec.points,
                trust=checks.load(spec.id).TRUST,
                message=findings[spec.id].message,
                evidence=findings[spec.id].evidence,
            )
            for spec in self._package.manifest.checks
        ]
        verdict = Verdict(
            problem=self._package.slug,
            version=self._package.version,
            status=status,
            reason=reason,
            score=self._score(results, findings) if self._hidden else None,
            checks=results,
            cases=cases,
            misconception=misconception,
            stdout=output.stdout,
            stderr=output.stderr,
            truncated=output.truncated,
            walls=list(self._walls),
            environment=self._environment,
            timings_ms=self._timings(),
        )
        # In one place, so that no text of a submission can be forgotten.
        return Verdict.model_validate(storable(verdict.model_dump()))

    def _score(self, results: list[CheckResult], findings: dict[str, Finding]) -> int:
        """The points of the passed checks; a wrong value caps it at 0, whatever else was right."""
        return sum(result.points for result in results) if findings["values"].passed else 0

    def _timings(self) -> Timings:
        total = time.monotonic() - self._started
        spans = {"import_": self._import_s, "run": self._run_s, "verify": self._verify_s, "total": total}
        return Timings(**{name: round(span * 1000) for name, span in spans.items()})


def _check_size(source: str) -> None:
    """The service and the command line refuse far shorter ones, with an answer of their own."""
    size = len(source.encode("utf-8", "replace"))
    if size > _MAX_SOURCE_BYTES:
        told = f"The source has {size:,} bytes; the judge takes at most {_MAX_SOURCE_BYTES:,}."
        raise SubmissionFault("syntax_error", told)


def _case_result(outcome: Outcome) -> CaseResult:
    case = outcome.case
    if outcome.got is not None and outcome.mismatch is None:
        return CaseResult(id=case.id, public=case.public, passed=True, message="Agrees with the reference.")
    if outcome.got is None and outcome.fault is None:
        message = "Not reached: an earlier case ended the process."
    elif not case.public:
        message = _hidden_message(outcome)
    else:
        told = _fault_message(outcome.fault) if outcome.fault else outcome.mismatch.message  # type: ignore[union-attr]
        inputs = [f"  {name} = {show(value, indent=len(name) + 5)}" for name, value in case.inputs.items()]
        message = "\n".join([told, "Inputs:", *inputs])
        if outcome.mismatch is not None and outcome.mismatch.reason == "wrong_value":
            evidence = outcome.mismatch.evidence
            message += f"\nExpected: {evidence['expected']}\nGot:      {evidence['got']}"
    return CaseResult(id=case.id, public=case.public, passed=False, message=message)


_HIDDEN_FAULTS: dict[Reason, str] = {
    "time_limit": "Your code went over the time limit.",
    "memory_limit": "Your code went over the memory limit.",
    "output_limit": "Your code returned or printed too much.",
    "divergent_collective": "Not all devices reached the same collective.",
    "killed": "The process that ran your code ended before it returned.",
}
_TOLD_EXCEPTIONS = frozenset(
    "ArithmeticError AssertionError AttributeError IndexError KeyError NameError NotImplementedError OverflowError "
    "RecursionError RuntimeError TypeError UnboundLocalError ValueError ZeroDivisionError".split()
)


def _hidden_message(outcome: Outcome) -> str:
    """The kind of fault alone, in our own words: a message, a shape, a line or a name could carry an input out."""
    if outcome.mismatch is not None:
        return f"{outcome.mismatch.kind.capitalize()}."
    assert outcome.fault is not None
    name = outcome.fault.detail.get("type")
    told = name if name in _TOLD_EXCEPTIONS else "an exception"
    return _HIDDEN_FAULTS.get(outcome.fault.reason, f"Your code raised {told}.")


def _fault_message(fault: SubmissionFault) -> str:
    """The submission's own traceback, in Python's form, or the message where there is none."""
    name = fault.detail.get("type")
    if not isinstance(name, str):
        return str(fault)
    lines = [f"{name}: {fault}" if str(fault) else name]
    frames = fault.detail.get("traceback")
    if isinstance(frames, list) and frames:
        where = [f"  line {frame['line']}, in {frame['function']}\n    {frame['text']}" for frame in frames]
        lines = ["Your code raised an exception:", *where, *lines]
    if fault.reason == "memory_limit":
        lines.append("That is more memory than a submission may have.")
    if name == "PermissionError":
        lines.append(
            "A submission may not start or signal processes, open sockets, or use files outside its scratch, /tmp."
        )
    return "\n".join(lines)
