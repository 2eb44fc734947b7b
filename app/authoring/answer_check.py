"""Whether the judge accepts the right answers to a package's questions, and recognizes its known wrong formulas."""

from collections.abc import Iterator

from app.grading.queue.protocol import Grader
from grader.answers.question_variants import AnswerSheet, Variant
from grader.core.context import Context
from grader.package.package import Package
from grader.verdicts.verdict import Verdict


def wrong_verdicts(package: Package, grader: Grader, context: Context) -> Iterator[tuple[str, str]]:
    """The file at fault, and what is wrong: at most one entry for each question and each wrong formula.

    Raises what `Grader.prepare` raises.
    """
    questions = grader.variants(package, context)
    if questions is None:
        return
    seen: set[str] = set()

    def judged(variant: Variant, answers: dict[str, object]) -> Verdict:
        sheet = AnswerSheet({**variant.truth, **answers}, variant.number, 1, variant.parameters)
        return grader.judge(package, sheet.source(), context)

    for variant in questions.variants:
        verdict = judged(variant, {})
        if verdict.status != "accepted":
            yield "questions.py", f"Its own answers to {variant.parameters} are {verdict.status}: {_why(verdict)}"
        for mistake in variant.mistakes:
            if not mistake.answers or mistake.name in seen:
                continue
            seen.add(mistake.name)
            verdict = judged(variant, dict(mistake.answers))
            if verdict.status != "rejected" or verdict.misconception is None:
                yield "mistakes.py", f"The answers of {mistake.name} to {variant.parameters} are {verdict.status}."


def _why(verdict: Verdict) -> str:
    return next((each.message for each in verdict.checks if not each.passed), "no check says why")
