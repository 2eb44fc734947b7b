"""Grade one attempt in answer mode: read its answers, and compare them with the question's."""

from collections.abc import Callable

from grader import checks
from grader.answers.answer_text import agrees, read_answers, show_answer
from grader.answers.question_variants import AnswerSheet, Variant, Variants
from grader.checks.answer_outcome import AnswerOutcome
from grader.core.context import Stop
from grader.core.errors import SubmissionFault
from grader.modes.explanation import explanation
from grader.modes.mode import GradingRequest
from grader.modes.report import NO_OUTPUT
from grader.package.package import AnswerManifest
from grader.verdicts.verdict import CaseResult, Verdict

Solve = Callable[[dict[str, object], Stop], Variant]


class AnswerGrading:
    """See `Grading`. It needs a runner only if another version has drawn the question."""

    def __init__(self, manifest: AnswerManifest, questions: Variants, request: GradingRequest, solve: Solve) -> None:
        self._manifest = manifest
        self._questions = questions
        self._request = request
        self._solve = solve

    def grade(self) -> Verdict:
        """See `Grading`."""
        report = self._request.report
        try:
            sheet = AnswerSheet.read(self._request.source)
        except ValueError as error:
            return report.never_ran(SubmissionFault("syntax_error", str(error)), NO_OUTPUT)
        values, faults = read_answers(self._manifest, sheet.answers)
        if faults:
            message = " ".join(f"{name}: {fault}" for name, fault in faults.items())
            return report.never_ran(SubmissionFault("wrong_structure", message), NO_OUTPUT)
        variant = self._variant(sheet)
        if variant is None:
            numbers = ", ".join(str(each.number) for each in self._questions.variants[:8])
            message = f"There is no question {sheet.variant}. Questions have numbers such as {numbers}."
            return report.never_ran(SubmissionFault("wrong_structure", message), NO_OUTPUT)
        self._request.context.progress("comparing")
        points = self._manifest.points
        outcomes = [
            AnswerOutcome(each, values[each.id], variant.truth[each.id], points[each.id])
            for each in self._manifest.answers
        ]
        findings = {
            each.id: checks.load("answer", each.id).check(outcomes, sheet.number_of_try)
            for each in self._manifest.checks
        }
        cases = [_case(each) for each in outcomes]
        misconception = explanation(
            f"misconception of {self._manifest.slug}", lambda: _misconception(outcomes, variant)
        )
        return report.verdict(findings, cases, NO_OUTPUT, misconception=misconception)

    def _variant(self, sheet: AnswerSheet) -> Variant | None:
        variant = next((each for each in self._questions.variants if each.number == sheet.variant), None)
        if sheet.parameters and (variant is None or variant.parameters != sheet.parameters):
            return self._solve(sheet.parameters, self._request.context.stop)
        return variant


def _case(outcome: AnswerOutcome) -> CaseResult:
    spec = outcome.spec
    said = f"{spec.label}: {show_answer(spec, outcome.mine)} is {'right' if outcome.is_right else 'wrong'}."
    return CaseResult(id=spec.id, public=True, passed=outcome.is_right, message=said)


def _misconception(outcomes: list[AnswerOutcome], variant: Variant) -> str | None:
    """The misunderstanding that gives these wrong answers; if several do, the one that explains the most."""
    found: tuple[int, str] | None = None
    by_id = {each.spec.id: each for each in outcomes}
    for mistake in variant.mistakes:
        if not mistake.answers:
            continue
        same = all(agrees(by_id[name].spec, by_id[name].mine, value) for name, value in mistake.answers.items())
        if same and (found is None or len(mistake.answers) > found[0]):
            found = len(mistake.answers), mistake.misunderstanding
    return found[1] if found else None
