"""Check that every answer is right, within its tolerance. A right answer beside a wrong one earns its own points."""

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
# After this many tries, single right answers earn no points, because enough guesses get some right.
TRIES_WITH_PARTS = 3


def describe(bounds: Bounds, manifest: AnswerManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    number = len(manifest.answers)
    right = {1: "the answer is right", 2: "both answers are right"}.get(number, f"all {number} answers are right")
    parts = ""
    if number > 1:
        parts = f"; in your first {TRIES_WITH_PARTS} tries, each right answer earns its points even if others are wrong"
    return Wording(
        (f"{right}{parts}; after a wrong answer, you get a question with other numbers",),
        tuple(
            f"{each.label}: {tolerance_text(each)}, {_points(manifest.points[each.id])}" for each in manifest.answers
        ),
    )


def check(outcomes: list[AnswerOutcome], number_of_try: int) -> Finding:
    """Pass if all answers are right. Otherwise, the right ones earn their points in the first tries.

    Evidence: each answer. The right ones are shown only if all are right, because a wrong answer leads to a new
    question.
    """
    wrong = [each for each in outcomes if not each.is_right]
    evidence = [_fact(each, accepted=not wrong) for each in outcomes]
    if not wrong:
        return Finding(True, _all_right(len(outcomes)), None, evidence)
    names = "; ".join(each.spec.label for each in wrong)
    message = f"{len(wrong)} of {len(outcomes)} answers {'is' if len(wrong) == 1 else 'are'} wrong: {names}."
    if len(outcomes) == 1:
        message = f"The answer is wrong: {names}."
    headline = message
    right = [each for each in outcomes if each.is_right]
    earned = sum(each.points for each in right) if number_of_try <= TRIES_WITH_PARTS else 0
    if earned:
        message += f" The right {'answer earns' if len(right) == 1 else 'answers earn'} {_points(earned)}."
    elif right:
        message += f" From try {TRIES_WITH_PARTS + 1} on, only right answers to all parts earn points."
    return Finding(False, message, "wrong_value", evidence, headlines=[headline], points=earned)


def _points(number: int) -> str:
    return "1 point" if number == 1 else f"{number} points"


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
