"""Check that every case returns what the reference returns."""

from dataclasses import replace

from pydantic import Field

from grader.checks.call_outcome import CallSubject, Outcome
from grader.checks.compare import show, tolerances_used
from grader.checks.finding import Finding
from grader.checks.value_parts import Part, points_evidence, points_message, right_parts, wording_of
from grader.checks.wording import ONLY_PARTS, ZERO, Wording, closeness, tolerances
from grader.core.reasons import REASONS
from grader.core.wire import leaves
from grader.package.package import CallManifest, CheckBounds
from grader.verdicts.evidence import Evidence, FailedCase, Fault
from grader.verdicts.verdict import Trust

TITLE = "Values"
TRUST: Trust = "verified"


class Bounds(CheckBounds):
    """`parts` earn points by themselves. Together they are worth at most the points of the check.

    With `custom`, the package's check.py decides whether a result of the right form is right.
    """

    custom: bool = False
    parts: list[Part] = Field(default_factory=list, max_length=16)


def describe(bounds: Bounds, manifest: CallManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    if bounds.custom:
        sentence = f"the problem's own check accepts the result of every case{ZERO}"
        return Wording((sentence,), ("structure, shape and dtype are the reference's",))
    otherwise = ONLY_PARTS if bounds.parts else ZERO
    return Wording(
        (f"the result of every case matches the reference{closeness(manifest.tolerances)}{otherwise}",),
        (
            "structure, shape and dtype are the reference's",
            *tolerances(manifest.tolerances),
            *(wording_of(part) for part in bounds.parts),
        ),
    )


def check(subject: CallSubject, bounds: Bounds) -> Finding:
    """Pass if no case fails or differs. Evidence: the tolerances, the parts, and the public cases that failed."""
    finding = _check(subject, bounds)
    if not bounds.parts:
        return finding
    right = right_parts(bounds.parts, subject.outcomes, subject.tolerances)
    evidence = [*finding.evidence, points_evidence(bounds.parts, right)]
    if finding.passed:
        return replace(finding, evidence=evidence)
    message = f"{finding.message} {points_message(bounds.parts, right)}"
    return replace(finding, message=message, points=sum(part.points for part in right), evidence=evidence)


def _check(subject: CallSubject, bounds: Bounds) -> Finding:
    outcomes, tolerances = subject.outcomes, subject.tolerances
    wrong = [outcome for outcome in outcomes if outcome.fault or outcome.mismatch]
    missing = [outcome for outcome in outcomes if outcome.got is None]
    evidence: list[Evidence] = [
        *([] if bounds.custom else tolerances_used(_outputs(outcomes), tolerances)),
        *(_failed_case(outcome) for outcome in wrong if outcome.case.public),
    ]
    if not wrong and not missing:
        with_what = "problem's own check" if bounds.custom else "reference"
        return Finding(True, f"{_all(len(outcomes))} with the {with_what}.", None, evidence)
    if not wrong:
        return Finding(False, "Some cases did not run.", "killed", evidence)
    first = wrong[0]
    message = f"{len(wrong)} of {len(outcomes)} cases failed. {_first(first)}"
    reason = first.fault.reason if first.fault else first.mismatch.reason  # type: ignore[union-attr]
    return Finding(False, message, reason, evidence, headlines=[_headline(first)])


def _all(number: int) -> str:
    return {1: "The case agrees", 2: "Both cases agree"}.get(number, f"All {number} cases agree")


def _first(outcome: Outcome) -> str:
    """Describe the first failed case in one line. A hidden case shows only its id and the kind of fault."""
    if not outcome.case.public:
        return f"The first is {outcome.case.id}" + (f": {outcome.mismatch.kind}." if outcome.mismatch else ".")
    if outcome.mismatch:
        return f"The first is {outcome.case.id}: {outcome.mismatch.message}"
    name = outcome.fault.detail.get("type") if outcome.fault else None
    return f"The first is {outcome.case.id}: {f'{name}: ' if name else ''}{outcome.fault}"


def _headline(outcome: Outcome) -> str:
    if outcome.mismatch:
        return outcome.mismatch.headline
    assert outcome.fault is not None
    if outcome.case.public:
        return outcome.fault.headline
    # The message of an exception could contain an input.
    return REASONS[outcome.fault.reason].in_hidden_case or "Your code raised an exception."


def _outputs(outcomes: list[Outcome]) -> list[tuple[str, object]]:
    return [each for outcome in outcomes for each in leaves(outcome.expected.result)]


def _failed_case(outcome: Outcome) -> FailedCase:
    faults = Fault.entries_of(outcome.fault.detail) if outcome.fault else []
    return FailedCase(
        case=outcome.case.id,
        inputs={name: show(value) for name, value in outcome.case.inputs.items()},
        difference=outcome.mismatch.difference if outcome.mismatch else None,
        fault=faults[0] if faults else None,
    )
