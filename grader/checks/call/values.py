"""Check that every case returns what the reference returns."""

import numpy as np

from grader.checks.call_outcome import Outcome, Tolerances
from grader.checks.compare import show, tolerances_used
from grader.checks.finding import Finding
from grader.checks.wording import ZERO, Wording, closeness, tolerances
from grader.core.reasons import REASONS
from grader.core.wire import leaves
from grader.package.package import CallManifest, CheckBounds
from grader.verdicts.evidence import Evidence, FailedCase, Fault
from grader.verdicts.evidence import Tolerances as TolerancesUsed
from grader.verdicts.verdict import Trust

TITLE = "Values"
TRUST: Trust = "verified"
Bounds = CheckBounds


def describe(bounds: Bounds, manifest: CallManifest) -> Wording:
    """In words: see `Wording`."""
    return Wording(
        (f"the result of every case matches the reference{closeness(manifest.tolerance)}{ZERO}",),
        ("structure, shape and dtype are the reference's", *tolerances(manifest.tolerance)),
    )


def check(outcomes: list[Outcome], tolerances: Tolerances) -> Finding:
    """Pass if no case fails or differs. Evidence: the tolerances, and the public cases that failed."""
    wrong = [outcome for outcome in outcomes if outcome.fault or outcome.mismatch]
    missing = [outcome for outcome in outcomes if outcome.got is None]
    evidence: list[Evidence] = [
        _tolerances_used(outcomes, tolerances),
        *(_failed_case(outcome) for outcome in wrong if outcome.case.public),
    ]
    if not wrong and not missing:
        return Finding(True, f"{_all(len(outcomes))} with the reference.", None, evidence)
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


def _tolerances_used(outcomes: list[Outcome], tolerances: Tolerances) -> TolerancesUsed:
    dtypes = {
        leaf.dtype.name
        for outcome in outcomes
        for _, leaf in leaves(outcome.expected.result)
        if isinstance(leaf, np.ndarray)
    }
    return tolerances_used(dtypes, tolerances)


def _failed_case(outcome: Outcome) -> FailedCase:
    faults = Fault.entries_of(outcome.fault.detail) if outcome.fault else []
    return FailedCase(
        case=outcome.case.id,
        inputs={name: show(value) for name, value in outcome.case.inputs.items()},
        difference=outcome.mismatch.difference if outcome.mismatch else None,
        fault=faults[0] if faults else None,
    )
