"""A verdict, arranged for reading: what happened first, then the case that shows it, then all the rest."""

from dataclasses import dataclass
from typing import Any

from app.web.program_view import EfficiencyView, MeshView, arrange_efficiency, arrange_meshes
from app.web.reasons import REASONS, TRUST
from app.web.terminal import plain_text
from grader.verdict import CheckResult, Verdict

_ICONS = {"accepted": "✓", "rejected": "✗", "failed": "!"}


@dataclass(frozen=True, slots=True)
class CheckView:
    """One graded property. `meshes` are what is drawn of its evidence; `evidence` lacks that and what cases show."""

    title: str
    passed: bool
    points: int
    max_points: int
    trust: str
    trust_meaning: str
    message: str
    meshes: tuple[MeshView, ...]
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CaseView:
    """One input with the facts that checks recorded about it."""

    id: str
    public: bool
    passed: bool
    message: str
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class VerdictView:
    """All that macros/verdict.html draws. `first_fault` is the first check's complaint, for when no case was run.

    `reason` names the part of /help/reasons that says more.
    """

    problem: str
    status: str
    reason: str | None
    icon: str
    is_run: bool
    score: int | None
    max_score: int
    efficiency: EfficiencyView | None
    headline: str
    explanation: str
    first_failure: CaseView | None
    first_fault: str
    misconception: str | None
    checks: tuple[CheckView, ...]
    cases: tuple[CaseView, ...]
    passed_cases: int
    stdout: str
    stderr: str
    truncated: bool
    walls: tuple[str, ...]
    timings: tuple[tuple[str, int], ...]


def arrange_verdict(verdict: Verdict) -> VerdictView:
    """Arrange a verdict; all text that a submission could have written comes out harmless to show."""
    facts = _facts_by_case(verdict)
    cases = tuple(
        CaseView(case.id, case.public, case.passed, _brief(plain_text(case.message), known), known)
        for case in verdict.cases
        for known in [facts.get(case.id, {})]
    )
    checks = tuple(_arrange_check(check) for check in verdict.checks)
    headline, explanation = _say(verdict)
    return VerdictView(
        problem=verdict.problem,
        status=verdict.status,
        reason=verdict.reason,
        icon=_ICONS[verdict.status],
        is_run=verdict.score is None and verdict.status != "failed",
        score=verdict.score,
        max_score=sum(check.max_points for check in verdict.checks),
        efficiency=arrange_efficiency(verdict.efficiency) if verdict.efficiency else None,
        headline=headline,
        explanation=explanation,
        first_failure=next((case for case in cases if not case.passed), None),
        first_fault=next((check.message for check in checks if not check.passed), ""),
        misconception=verdict.misconception,
        checks=checks,
        cases=cases,
        passed_cases=sum(case.passed for case in cases),
        stdout=plain_text(verdict.stdout),
        stderr=plain_text(verdict.stderr),
        truncated=verdict.truncated,
        walls=tuple(verdict.walls),
        timings=tuple(verdict.timings_ms.model_dump(by_alias=True).items()),
    )


def _arrange_check(check: CheckResult) -> CheckView:
    # Harmless first: the rest of a mesh's evidence is shown as it comes out of there.
    evidence = {key: _harmless(value) for key, value in check.evidence.items() if key != "cases"}
    meshes = arrange_meshes(evidence)
    if meshes:
        del evidence["meshes"]
    return CheckView(
        title=check.title,
        passed=check.passed,
        points=check.points,
        max_points=check.max_points,
        trust=check.trust,
        trust_meaning=TRUST[check.trust],
        message=plain_text(check.message),
        meshes=meshes,
        evidence=evidence,
    )


def _say(verdict: Verdict) -> tuple[str, str]:
    if verdict.status == "failed":
        return "The grader failed", "This is our fault and costs you nothing. Your code is kept; try again later."
    if verdict.status == "accepted":
        if verdict.score is None:
            return "Public cases pass", "Submit to try the hidden cases, too."
        return "Accepted", "Every check passed."
    if verdict.reason is None:
        return "Rejected", "At least one check did not pass."
    reason = REASONS[verdict.reason]
    return reason.name, reason.sentence


def _facts_by_case(verdict: Verdict) -> dict[str, dict[str, Any]]:
    """Collect `evidence["cases"]` of all checks by case; entries of another form are left out, not guessed at."""
    facts: dict[str, dict[str, Any]] = {}
    for check in verdict.checks:
        entries = check.evidence.get("cases")
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                known = {key: _harmless(value) for key, value in entry.items() if key not in _SAID_BY_THE_CASE}
                facts.setdefault(entry["id"], {}).update(known)
    return facts


def _brief(message: str, facts: dict[str, Any]) -> str:
    """The first line of a message whose further lines would repeat the facts that are drawn below it."""
    return message.split("\n", 1)[0] if {"inputs", "expected", "got"} <= facts.keys() else message


_SAID_BY_THE_CASE = frozenset({"id", "public", "passed", "message"})


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, dict):
        return {plain_text(str(key)): _harmless(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_harmless(item) for item in value]
    return value
