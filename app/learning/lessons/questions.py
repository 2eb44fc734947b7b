"""The questions at the end of a lesson: how a box of lesson.md becomes one, and whether an answer to it is right."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from app.learning.lessons.lesson import Question
from grader.answers.answer_text import AnswerUnfit, agrees, example_of, read_answer, show_answer
from grader.package.package import AnswerSpec
from grader.review.names import suggest

KINDS = ("number", "choice", "spec")
# Numbers are rounded to three digits when they are shown.
_TOLERANCE = 0.01
_ITEM = re.compile(r"- \[(?P<mark>[ x])\] (?P<text>.+)", re.DOTALL)
_AMOUNT = re.compile(r"(?P<number>-?[\d.,]*\d(?:e[+-]?\d+)?)(?: (?P<unit>\S.*))?")


class QuestionUnfit(Exception):
    """A box is not a question. The message says what it needs, as the end of a sentence."""


def read_question(kind: str, paragraphs: Sequence[str]) -> Question:
    """The question of a box.

    Args:
      kind: the word after `question`: one of `KINDS`.
      paragraphs: the question, its answer, and the paragraphs of the explanation.

    Raises:
      QuestionUnfit.
    """
    if kind not in KINDS:
        raise QuestionUnfit(f"needs its kind after 'question': {', '.join(KINDS)}{suggest(kind, KINDS)}")
    if len(paragraphs) < 3:
        raise QuestionUnfit("needs three paragraphs or more: the question, the answer, the explanation")
    text, written, *explanation = paragraphs
    match kind:
        case "number":
            spec, answer = _number(written)
        case "choice":
            spec, answer = _choice(written)
        case _:
            spec, answer = _spec("spec"), written.strip("`")
    try:
        right = read_answer(spec, answer)
    except AnswerUnfit as unfit:
        raise QuestionUnfit(f"has an answer that cannot be read: {unfit}") from None
    return Question(text, spec, right, "\n\n".join(explanation))


def _number(written: str) -> tuple[AnswerSpec, str]:
    found = _AMOUNT.fullmatch(written)
    if found is None:
        raise QuestionUnfit(f"has {written[:40]!r} as its answer: write a claim, as {{{{ claim(…) }}}}")
    return _spec("number", unit=found["unit"] or "", tolerance=_TOLERANCE), found["number"].replace(",", "")


def _choice(written: str) -> tuple[AnswerSpec, str]:
    items = [_ITEM.fullmatch(each) for each in re.split(r"\n(?=- )", written)]
    choices = [(" ".join(item["text"].split()), item["mark"] == "x") for item in items if item]
    right = [text for text, is_right in choices if is_right]
    if len(choices) != len(items) or len(choices) < 2 or len(right) != 1:
        raise QuestionUnfit("needs a list of choices, '- [x] …' for the right one and '- [ ] …' for each of the others")
    return _spec("choice", choices=[text for text, _ in choices]), right[0]


def _spec(kind: str, **keys: Any) -> AnswerSpec:
    try:
        return AnswerSpec.model_validate({"id": "answer", "label": "Your answer", "kind": kind, **keys})
    except ValidationError as error:
        raise QuestionUnfit("; ".join(each["msg"] for each in error.errors())) from None


@dataclass(frozen=True, slots=True)
class Reply:
    """The page's reply to an answer, as plain text, because it quotes what a reader typed.

    `unfit` could not be read, and is neither right nor wrong.
    """

    outcome: Literal["right", "wrong", "unfit"]
    message: str


def reply_to(question: Question, written: str) -> Reply | None:
    """Whether an answer is right; None if nothing was written.

    Args:
      written: as it was typed; of a choice, its number in the list, from 1.
    """
    spec = question.spec
    if not written.strip():
        return None
    try:
        mine = read_answer(spec, _chosen(spec, written) if spec.kind == "choice" else written)
    except AnswerUnfit as unfit:
        return Reply("unfit", str(unfit))
    if agrees(spec, mine, question.right):
        return Reply("right", "That is right.")
    as_read = "" if spec.kind == "choice" else show_answer(spec, mine).removesuffix(f" {spec.unit}")
    # Only if it says something new: that 4 KiB are 4096 bytes.
    note = f" It was read as {show_answer(spec, mine)}." if as_read not in written else ""
    return Reply("wrong", f"This is not the right answer.{note} Try again, or open the answer below.")


def _chosen(spec: AnswerSpec, written: str) -> str:
    number = int(written) if re.fullmatch(r"[0-9]{1,2}", written) else 0
    if not 1 <= number <= len(spec.choices):
        raise AnswerUnfit(f"Choose one of the {len(spec.choices)} answers.")
    return spec.choices[number - 1]


def hint_of(question: Question) -> str:
    """What to write into the field."""
    return f"Write {example_of(question.spec)}."


def answer_of(question: Question) -> str:
    """The right answer, as Markdown."""
    right = question.right
    if question.spec.kind == "spec":
        return f"`{right}`"
    return f"{right:,} {question.spec.unit}".strip() if isinstance(right, int | float) else str(right)
