"""Arranges a verdict for its page: first what happened, then the case that shows it, then the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core.web.messages import without_traceback
from app.presentation.drawings.placement import Mesh
from app.presentation.fault_views import ShapesView, shapes_of
from app.presentation.first_fault import VerdictPicture, picture_of_fault, picture_of_success
from app.presentation.measurements import Measurement, figure_of
from app.presentation.program_evidence import EfficiencyView, MeshesView, arrange_efficiency, arrange_meshes
from app.presentation.reasons import REASONS, TRUST
from grader.verdicts.evidence import Evidence, Facts, FailedCase, Fault, OutputTolerances, Tolerances
from grader.verdicts.verdict import CheckResult, Verdict

_ICONS = {"accepted": "✓", "rejected": "✗", "failed": "!", "unwritten": "○"}


@dataclass(frozen=True, slots=True)
class CheckView:
    """One graded property. `meshes` and `facts` show its evidence; cases show the rest.

    `shapes` is None unless a case or a fault reports a wrong shape. `figure` summarizes it.
    """

    title: str
    passed: bool
    checked: bool
    points: int
    max_points: int
    trust: str
    trust_meaning: str
    message: str
    figure: Measurement | None
    shapes: ShapesView | None
    meshes: MeshesView
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """The facts that a check recorded about a case. `where` names the mesh and the step, if there are any."""

    where: str
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CaseView:
    """One input, with the facts that checks recorded about it for each mesh on which it failed."""

    id: str
    public: bool
    passed: bool
    message: str
    facts: tuple[CaseFacts, ...]


@dataclass(frozen=True, slots=True)
class VerdictView:
    """Everything that app/presentation/templates/macros/verdict.html shows.

    `headline` is the first fault in one sentence, and `more` has the other faults' sentences. Without any, `headline`
    and `explanation` say what happened. `first_fault` is the first check's message if the headlines do not say it all:
    a traceback, or a check without headlines. `picture` shows the first fault, or what an accepted program placed.
    `checks` that failed come first. `cases` are in groups with equal outcomes. `reason` names the section of
    /help/reasons that says more. `score_note` explains a score below the points of the checks that passed. A rejected
    starter that nobody has changed has the status `unwritten` and no score.
    `is_answer`: the problem has mode `answer`, where each case is an answer and there is no code.
    """

    problem: str
    status: str
    reason: str | None
    icon: str
    is_answer: bool
    is_run: bool
    own_inputs: str
    score: int | None
    max_score: int
    efficiency: EfficiencyView | None
    score_note: str
    headline: str
    more: tuple[str, ...]
    explanation: str
    picture: VerdictPicture | None
    first_failure: CaseView | None
    first_fault: str
    misconception: str | None
    checks: tuple[CheckView, ...]
    cases: tuple[tuple[CaseView, ...], ...]
    passed_cases: int
    all_cases: int
    stdout: str
    stderr: str
    truncated: bool
    walls: tuple[str, ...]
    timings: tuple[tuple[str, int], ...]

    @property
    def outcome(self) -> str:
        """`accepted, 100 of 100`."""
        status = "nothing written yet" if self.status == "unwritten" else self.status
        return status if self.score is None else f"{status}, {self.score} of {self.max_score}"


def arrange_verdict(
    verdict: Verdict, *, is_starter: bool = False, is_answer: bool = False, own_inputs: str = ""
) -> VerdictView:
    """Arrange a verdict.

    Args:
      is_starter: the source is the problem's unchanged starter.
      is_answer: the problem has mode `answer`.
      own_inputs: the inputs that the author of a run chose, in words.
    """
    unwritten = is_starter and verdict.status == "rejected"
    status = "unwritten" if unwritten else verdict.status
    facts = _facts_by_case(verdict.checks)
    cases = tuple(
        CaseView(case.id, case.public, case.passed, _brief(case.message, known), known)
        for case in verdict.cases
        for known in [facts.get(case.id, ())]
    )
    sentences = tuple(sentence for check in verdict.checks for sentence in check.headlines)
    failure = None if unwritten else _first_failure(cases, has_headline=bool(sentences))
    fault = "" if unwritten else _first_fault(verdict)
    shown = failure.message if failure else fault
    cases = tuple(
        case if case is failure else replace(case, message=without_traceback(case.message, shown)) for case in cases
    )
    failed_first = sorted(verdict.checks, key=lambda check: check.passed)
    checks = tuple(_arrange_check(check, shown) for check in failed_first)
    headline, explanation = ("", UNWRITTEN) if unwritten else _explain(verdict, own=bool(own_inputs))
    if is_answer and verdict.status != "failed":
        headline, explanation = _explain_answers(verdict)
    return VerdictView(
        problem=verdict.problem,
        status=status,
        # /help/reasons is about code.
        reason=None if unwritten or is_answer else verdict.reason,
        icon=_ICONS[status],
        is_answer=is_answer,
        is_run=verdict.score is None and verdict.status != "failed",
        own_inputs=own_inputs,
        score=None if unwritten else verdict.score,
        max_score=sum(check.max_points for check in verdict.checks),
        efficiency=arrange_efficiency(verdict.efficiency) if verdict.efficiency else None,
        score_note="" if unwritten or is_answer else _score_note(verdict),
        headline=sentences[0] if sentences and not unwritten else headline,
        more=() if unwritten else sentences[1:],
        explanation="" if sentences and not unwritten else explanation,
        picture=_picture(verdict, checks) if verdict.status != "failed" and not unwritten else None,
        first_failure=failure,
        first_fault=fault,
        misconception=None if unwritten else verdict.misconception,
        checks=checks,
        cases=_alike(cases),
        passed_cases=sum(case.passed for case in cases),
        all_cases=len(cases),
        stdout=verdict.stdout,
        stderr=verdict.stderr,
        truncated=verdict.truncated,
        walls=tuple(verdict.walls),
        timings=tuple(verdict.timings_ms.model_dump(by_alias=True).items()),
    )


def _alike(cases: Sequence[CaseView]) -> tuple[tuple[CaseView, ...], ...]:
    """Cases without their own message or facts form one group."""
    groups: dict[object, list[CaseView]] = {}
    for case in cases:
        own: object = case.id if case.facts or "\n" in case.message else (case.passed, case.message)
        groups.setdefault(own, []).append(case)
    return tuple(map(tuple, groups.values()))


def _picture(verdict: Verdict, checks: Sequence[CheckView]) -> VerdictPicture | None:
    if verdict.status == "accepted":
        return picture_of_success(check.meshes for check in checks)
    return picture_of_fault((check.shapes, check.meshes) for check in checks if not check.passed)


def _first_failure(cases: Sequence[CaseView], *, has_headline: bool) -> CaseView | None:
    """The first case that failed, unless it is hidden and a headline has said all that may be said about it."""
    failure = next((case for case in cases if not case.passed), None)
    return None if failure is None or (has_headline and not failure.public and not failure.facts) else failure


def _first_fault(verdict: Verdict) -> str:
    """The message of the first check that failed, if its headlines leave out a traceback, or if there are none."""
    check = next((check for check in verdict.checks if not check.passed), None)
    if check is None:
        return ""
    has_fault = any(isinstance(each, Fault) for each in check.evidence)
    return check.message if has_fault or not check.headlines else ""


def _arrange_check(check: CheckResult, shown: str) -> CheckView:
    """Arrange a check, whose traceback is left out if `shown`, the message at the top, has it."""
    return CheckView(
        title=check.title,
        passed=check.passed,
        checked=check.checked,
        points=check.points,
        max_points=check.max_points,
        trust=check.trust,
        trust_meaning=TRUST[check.trust],
        message=check.message if check.message == shown else without_traceback(check.message, shown),
        figure=figure_of(check.evidence),
        shapes=None if check.passed else shapes_of(check.evidence),
        meshes=arrange_meshes(check.evidence),
        facts=_facts_of(check.evidence),
    )


UNWRITTEN = "This is the unchanged starter. Write your solution in it, then run it again."


def _score_note(verdict: Verdict) -> str:
    """Why points of passed checks are missing from the score; empty if none are."""
    earned = sum(check.points for check in verdict.checks)
    if verdict.score is None or verdict.score >= earned:
        return ""
    parts = sum(check.points for check in verdict.checks if not check.passed)
    why = (
        "only the parts of the values that are right count" if parts else "points count only if every value is correct"
    )
    return f"The checks that passed are worth {earned - parts} points, but the score is {verdict.score}: {why}."


def _explain(verdict: Verdict, *, own: bool) -> tuple[str, str]:
    if verdict.status == "failed":
        return (
            "The grader failed",
            "This is our fault and costs you nothing. Your code is stored. Try again later.",
        )
    if verdict.status == "accepted":
        if own:
            return (
                "Your own inputs pass",
                "Your code agrees with the reference on them. Submit it to run the hidden cases.",
            )
        if verdict.score is None:
            return "Public cases pass", "Submit your code to run the hidden cases too."
        return "Every check passed.", ""
    if verdict.reason is None:
        return "Rejected", "At least one check failed."
    reason = REASONS[verdict.reason]
    return reason.name, reason.sentence


def _explain_answers(verdict: Verdict) -> tuple[str, str]:
    right, number = sum(case.passed for case in verdict.cases), len(verdict.cases)
    if verdict.status == "accepted":
        return "Your answer is right." if number == 1 else "All your answers are right.", ""
    if not number:
        return "Not graded", "Your answers could not be read."
    if number == 1:
        return "Wrong answer", "Your answer is wrong."
    if not right:
        return "Wrong answers", "None of your answers is right."
    return (
        "Wrong answer" if right == number - 1 else "Wrong answers",
        f"{right} of {number} answers {'is' if right == 1 else 'are'} right.",
    )


def _facts_by_case(checks: Sequence[CheckResult]) -> dict[str, tuple[CaseFacts, ...]]:
    """The facts that the checks recorded about each case, for each mesh on which it failed."""
    facts: dict[str, tuple[CaseFacts, ...]] = {}
    for check in checks:
        for entry in check.evidence:
            match entry:
                case FailedCase():
                    facts[entry.case] = (*facts.get(entry.case, ()), _case_facts(entry))
    return facts


def _case_facts(failed: FailedCase) -> CaseFacts:
    mesh = f"On mesh {Mesh.of(failed.mesh)}" if failed.mesh is not None else ""
    facts: dict[str, Any] = {"inputs": failed.inputs} if failed.inputs else {}
    if failed.difference is not None:
        facts |= {"expected": failed.difference.expected, "got": failed.difference.got}
        if failed.difference.worst is not None:
            worst = failed.difference.worst
            facts |= {"worst_index": worst.index, "worst_expected": worst.expected, "worst_got": worst.got}
            facts["relative_error"] = worst.relative_error
    if failed.fault is not None:
        facts |= _fault_facts(failed.fault)
    return CaseFacts(", ".join(filter(None, (mesh, failed.where))), facts)


def _fault_facts(fault: Fault) -> dict[str, Any]:
    return fault.model_dump(exclude={"kind", "shapes", "traceback"}, exclude_defaults=True)


def _facts_of(evidence: Sequence[Evidence]) -> dict[str, Any]:
    """The facts of the check itself, which belong to no mesh and no case."""
    facts: dict[str, Any] = {}
    for entry in evidence:
        match entry:
            case Tolerances():
                facts["tolerance"] = {name: used.model_dump() for name, used in entry.by_dtype.items()}
            case OutputTolerances():
                facts["tolerance of outputs"] = {
                    f"{each.output or 'the result'} ({each.dtype})": {"rtol": each.rtol, "atol": each.atol}
                    for each in entry.outputs
                }
            case Fault():
                facts |= _fault_facts(entry)
            case Facts(mesh=None):
                facts[entry.about] = entry.values
    return facts


def _brief(message: str, facts: Sequence[CaseFacts]) -> str:
    """The message without the lines that would repeat the facts that are shown below it."""
    if any({"inputs", "expected", "got"} <= each.facts.keys() for each in facts):
        return message.split("\n", 1)[0]
    # For an exception, the traceback stays. The inputs are among the facts.
    return message.rsplit("\nInputs:\n", 1)[0] if any("inputs" in each.facts for each in facts) else message
