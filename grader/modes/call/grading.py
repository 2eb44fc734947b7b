"""Call mode: the entry point is called once per case, and its results are compared with the reference's answers."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from grader import checks
from grader.checks.call import values
from grader.checks.call_outcome import Answer, CallSubject, Outcome
from grader.checks.compare import compare, excess, show
from grader.core.case import Case
from grader.core.errors import SubmissionFault
from grader.core.reasons import REASONS
from grader.modes.call.call_arguments import call_each
from grader.modes.call.custom_check import custom_mismatches
from grader.modes.call.hidden_cases import HiddenCases
from grader.modes.call.reference_answers import CallPrepared
from grader.modes.explanation import explanation
from grader.modes.mode import GradingRequest
from grader.modes.report import fault_message
from grader.modes.submission import RunnerGrading
from grader.package.package import CallManifest, KnownSubmission, Manifest, Package, Tolerance
from grader.sandbox.protocol import Output, RunnerSpec, Sandbox, Session
from grader.verdicts.fingerprint import Fingerprint, sketch
from grader.verdicts.verdict import CaseResult, Verdict

Got = dict[str, tuple[Answer | None, SubmissionFault | None]]


class CallGrading(RunnerGrading):
    """Grades one submission.

    Args:
      hidden_cases: the attempt's own hidden cases; None to use the prepared ones.
    """

    def __init__(
        self,
        package: Package,
        manifest: CallManifest,
        prepared: CallPrepared,
        hidden_cases: HiddenCases | None,
        request: GradingRequest,
        sandbox: Sandbox,
        spec: RunnerSpec,
    ) -> None:
        super().__init__(request, sandbox, spec)
        self._package = package
        self._manifest = manifest
        self._prepared = prepared
        self._hidden_cases = hidden_cases
        bounds = [spec.bounds for spec in package.manifest.checks]
        self._is_custom = any(isinstance(each, values.Bounds) and each.custom for each in bounds)

    def _grade(self, session: Session) -> Callable[[], Verdict]:
        """Run the public cases, then the attempt's own hidden cases.

        A submission that fails a public case is rejected anyway, so it gets the prepared hidden cases. An attempt that
        could be accepted, or score by a part of the values, never gets those.
        """
        manifest, prepared = self._package.manifest, self._prepared
        hidden_cases = self._hidden_cases
        self._load(session, manifest.entry, self._package.helpers)
        public = [case for case in prepared.cases if case.public]
        hidden = [case for case in prepared.cases if not case.public] if self._request.hidden else []
        got = self._call_all(session, public, len(public) + len(hidden))
        can_score = (
            self._is_custom
            or _has_parts(manifest)
            or all(_is_right(self._outcome(case, prepared.answers[case.id], *got[case.id])) for case in public)
        )
        own = hidden and hidden_cases is not None and can_score
        if own:
            assert hidden_cases is not None
            hidden = list(hidden_cases.cases())
        if hidden:
            # From now on, output may contain hidden inputs, so none of it may reach the verdict.
            session.seal_output()
            got = self._call_all(session, hidden, len(public) + len(hidden), got)
        answers = prepared.answers
        if own and hidden_cases is not None:
            answers = {**answers, **hidden_cases.answers()}
        return partial(self._verdict, [*public, *hidden], answers, got, session.output())

    def _verdict(self, cases: Sequence[Case], answers: Mapping[str, Answer], got: Got, output: Output) -> Verdict:
        """Compare the results, once the submission's process has ended."""
        report, manifest = self._report, self._package.manifest
        self._context.progress("comparing")
        started = time.monotonic()
        outcomes = [self._outcome(case, answers[case.id], *got[case.id]) for case in cases]
        if self._is_custom:
            outcomes = self._by_custom_check(outcomes)
        if self._request.watch is not None:
            self._errors = {"": max((self._excess(each) for each in outcomes), default=0.0)}
        subject = CallSubject(outcomes, manifest.tolerances, self._request.source)
        findings = {spec.id: checks.load("call", spec.id).check(subject, spec.bounds) for spec in manifest.checks}
        slug = self._package.slug
        misconception = fingerprint = None
        if not all(finding.passed for finding in findings.values()):
            fingerprint = explanation(f"fingerprint of {slug}", lambda: _fingerprint_of(outcomes, manifest.tolerances))
        if fingerprint is not None:
            misconception = explanation(
                f"misconception of {slug}",
                lambda: self._request.known.explain(
                    fingerprint,
                    None,
                    lambda known: self._is_same(known, outcomes),
                    has_more=any(not case.public for case in cases),
                ),
            )
        report.verify_s = time.monotonic() - started
        results = [_case_result(outcome) for outcome in outcomes]
        verdict = report.verdict(findings, results, output, misconception=misconception)
        return verdict.with_fingerprint(fingerprint)

    def _call_all(self, session: Session, cases: list[Case], number: int, before: Got | None = None) -> Got:
        """Call the entry point once per case, until a fault ends the process.

        Args:
          number: the number of all cases.
          before: the results of earlier calls.
        """
        got: Got = dict(before or {})
        got |= {case.id: (None, None) for case in cases}
        started = time.monotonic()
        answers = call_each(session, self._manifest, cases)
        for place, case in enumerate(cases, len(got) - len(cases) + 1):
            if _has_ended(session, got):
                break
            self._context.progress(f"case {place} of {number}")
            answer = next(answers)
            got[case.id] = (None, answer) if isinstance(answer, SubmissionFault) else (answer, None)
        self._report.run_s += time.monotonic() - started
        return got

    def _outcome(self, case: Case, expected: Answer, got: Answer | None, fault: SubmissionFault | None) -> Outcome:
        mismatch = None
        if got is not None:
            mismatch = compare(expected.result, got.result, self._package.manifest.tolerances)
        return Outcome(case, expected, got, fault, mismatch)

    def _by_custom_check(self, outcomes: list[Outcome]) -> list[Outcome]:
        """The outcomes, with the mismatches that check.py finds."""
        pairs = {each.case.id: (each.expected.result, each.got.result) for each in outcomes if each.got is not None}
        found = custom_mismatches(self._package, [*pairs.values()], self._sandbox, self._spec, self._context.stop)
        by_case = dict(zip(pairs, found, strict=True))
        return [replace(each, mismatch=by_case.get(each.case.id)) for each in outcomes]

    def _excess(self, outcome: Outcome) -> float:
        if outcome.got is None:
            return math.inf
        if self._is_custom:
            return 0.0 if outcome.mismatch is None else math.inf
        return excess(outcome.expected.result, outcome.got.result, self._package.manifest.tolerances)

    def _is_same(self, known: KnownSubmission, outcomes: list[Outcome]) -> bool:
        """Whether a known wrong submission does the same in all cases.

        The submission gets its own runner, because it may change what others would see in a shared one.
        """
        is_wrong = _has_wrong_result(outcomes)
        try:
            with self._sandbox.open(replace(self._spec, own=True), self._context.stop) as session:
                session.load(known.source, self._package.manifest.entry, modules=self._package.helpers)
                answers = call_each(session, self._manifest, [outcome.case for outcome in outcomes])
                for outcome, theirs in zip(outcomes, answers, strict=True):
                    if outcome.got is None or isinstance(theirs, SubmissionFault):
                        return False
                    pair = [_identified_by(each, is_wrong=is_wrong) for each in (theirs, outcome.got)]
                    if compare(pair[0], pair[1], self._package.manifest.tolerances) is not None:
                        return False
        except SubmissionFault:
            return False
        return True


def _fingerprint_of(outcomes: list[Outcome], tolerances: dict[str, Tolerance]) -> Fingerprint | None:
    """The fingerprint of the public cases; None if one has no result."""
    is_wrong = _has_wrong_result(outcomes)
    results, shown = {}, False
    for outcome in outcomes:
        if not outcome.case.public:
            continue
        if outcome.got is None:
            return None
        expected, got = (_identified_by(each, is_wrong=is_wrong) for each in (outcome.expected, outcome.got))
        results[outcome.case.id] = sketch(got)
        shown |= compare(expected, got, tolerances) is not None
    return Fingerprint(results=results, shown=shown)


def _has_wrong_result(outcomes: list[Outcome]) -> bool:
    return any(outcome.mismatch is not None for outcome in outcomes)


def _identified_by(answer: Answer, *, is_wrong: bool) -> object:
    """What identifies a mistake: the result or, if that is right, what the spies observed."""
    return answer.result if is_wrong else answer.observed


def _has_ended(session: Session, got: Got) -> bool:
    """Whether a fault ended the process, so that it cannot run another case."""
    faults = [fault for _, fault in got.values() if fault is not None]
    return bool(faults) and not (session.alive and all(REASONS[fault.reason].process_lives for fault in faults))


def _has_parts(manifest: Manifest) -> bool:
    return any(isinstance(spec.bounds, values.Bounds) and spec.bounds.parts for spec in manifest.checks)


def _is_right(outcome: Outcome) -> bool:
    return outcome.got is not None and outcome.mismatch is None


def _case_result(outcome: Outcome) -> CaseResult:
    case = outcome.case
    if outcome.got is not None and outcome.mismatch is None:
        return CaseResult(id=case.id, public=case.public, passed=True, message="Agrees with the reference.")
    if outcome.got is None and outcome.fault is None:
        message = "Not run: an earlier case ended the process."
    elif not case.public:
        message = _hidden_message(outcome)
    else:
        fault = fault_message(outcome.fault) if outcome.fault else outcome.mismatch.message  # type: ignore[union-attr]
        inputs = [f"  {name} = {show(value, indent=len(name) + 5)}" for name, value in case.inputs.items()]
        message = "\n".join([fault, "Inputs:", *inputs])
        if outcome.mismatch is not None and outcome.mismatch.reason == "wrong_value":
            difference = outcome.mismatch.difference
            message += f"\nExpected: {difference.expected}\nGot:      {difference.got}"
    return CaseResult(id=case.id, public=case.public, passed=False, message=message)


_NAMED_EXCEPTIONS = frozenset(
    "ArithmeticError AssertionError AttributeError IndexError KeyError NameError NotImplementedError OverflowError "
    "RecursionError RuntimeError TypeError UnboundLocalError ValueError ZeroDivisionError".split()
)


def _hidden_message(outcome: Outcome) -> str:
    """Name the kind of fault in our own words, because a message, a shape, a line or a name could reveal an input."""
    if outcome.mismatch is not None:
        return outcome.mismatch.headline
    assert outcome.fault is not None
    name = outcome.fault.detail.get("type")
    exception = name if name in _NAMED_EXCEPTIONS else "an exception"
    return REASONS[outcome.fault.reason].in_hidden_case or f"Your code raised {exception}."
