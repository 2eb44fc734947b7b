"""Call mode: the entry point is called once a case, and what it returns is compared with the reference's answers."""

import time
from collections.abc import Callable

from grader import checks
from grader.case import Case
from grader.checks.call.outcome import Answer, Outcome
from grader.compare import compare, show
from grader.errors import SubmissionFault
from grader.package.package import Package
from grader.prepared import Known, Prepared, answer_of
from grader.report import Report, fault_message
from grader.sandbox.protocol import Session
from grader.verdict import CaseResult, Reason, Verdict

Progress = Callable[[str], None]


class CallGrading:
    """Grades one submission in a session that it is alone in."""

    def __init__(self, package: Package, report: Report, *, hidden: bool, progress: Progress) -> None:
        self._package = package
        self._report = report
        self._hidden = hidden
        self._progress = progress

    def grade(
        self, prepared: Prepared, known: Callable[[], tuple[Known, ...]], source: str, session: Session
    ) -> Verdict:
        """`known` is asked for the known wrong submissions only where a value is wrong."""
        report, manifest = self._report, self._package.manifest
        cases = [case for case in prepared.cases if case.public or self._hidden]
        self._progress("importing")
        started = time.monotonic()
        try:
            session.request({"op": "load", "source": source, "entry": manifest.entry})
        except SubmissionFault as fault:
            return report.never_ran(fault, session.output())
        finally:
            report.import_s = time.monotonic() - started
        got = self._call_all(session, cases)
        output = session.output()
        self._progress("comparing")
        started = time.monotonic()
        outcomes = [self._outcome(case, prepared.answers[case.id], *got[case.id]) for case in cases]
        findings = {
            spec.id: checks.load("call", spec.id).check(outcomes, manifest.tolerance) for spec in manifest.checks
        }
        misconception = self._misconception(known, outcomes)
        report.verify_s = time.monotonic() - started
        results = [_case_result(outcome) for outcome in outcomes]
        return report.verdict(findings, results, output, misconception=misconception)

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
        self._report.run_s = time.monotonic() - started
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


def _case_result(outcome: Outcome) -> CaseResult:
    case = outcome.case
    if outcome.got is not None and outcome.mismatch is None:
        return CaseResult(id=case.id, public=case.public, passed=True, message="Agrees with the reference.")
    if outcome.got is None and outcome.fault is None:
        message = "Not reached: an earlier case ended the process."
    elif not case.public:
        message = _hidden_message(outcome)
    else:
        told = fault_message(outcome.fault) if outcome.fault else outcome.mismatch.message  # type: ignore[union-attr]
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
