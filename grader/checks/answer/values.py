"""Check that every answer is right, within its tolerance."""

from grader.answers.answer_text import show_answer, tolerance_text
from grader.checks.answer_outcome import AnswerOutcome
from grader.checks.finding import Finding
from grader.checks.wording import Wording
from grader.package.package import AnswerManifest, CheckBounds
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "Answers"
TRUST: Trust = "verified"
Bounds = CheckBounds


def describe(bounds: Bounds, manifest: AnswerManifest) -> Wording:
    """In words: see `Wording`."""
    number = len(manifest.answers)
    right = {1: "the answer is right", 2: "both answers are right"}.get(number, f"all {number} answers are right")
    return Wording(
        (f"{right}; after a wrong answer, you get a question with other numbers",),
        tuple(f"{each.label}: {tolerance_text(each)}" for each in manifest.answers),
    )


def check(outcomes: list[AnswerOutcome]) -> Finding:
    """Pass if all answers are right. Evidence: each answer, and the right ones only if all are right, because a wrong
    answer leads to another question.
    """
    wrong = [each for each in outcomes if not each.is_right]
    evidence = [_fact(each, accepted=not wrong) for each in outcomes]
    if not wrong:
        return Finding(True, _all_right(len(outcomes)), None, evidence)
    names = "; ".join(each.spec.label for each in wrong)
    message = f"{len(wrong)} of {len(outcomes)} answers {'is' if len(wrong) == 1 else 'are'} wrong: {names}."
    if len(outcomes) == 1:
        message = f"The answer is wrong: {names}."
    return Finding(False, message, "wrong_value", evidence, headlines=[message])


def _all_right(number: int) -> str:
    return {1: "The answer is right.", 2: "Both answers are right."}.get(number, f"All {number} answers are right.")


def _fact(outcome: AnswerOutcome, *, accepted: bool) -> Facts:
    values: dict[str, bool | int | str] = {
        "yours": show_answer(outcome.spec, outcome.mine),
        "tolerance": tolerance_text(outcome.spec),
        "right": outcome.is_right,
    }
    if accepted:
        values["expected"] = show_answer(outcome.spec, outcome.expected)
    return Facts(about=outcome.spec.label, values=values)
