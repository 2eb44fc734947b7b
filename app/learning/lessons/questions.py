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
# Below the answer, what a wrong one shows: after a choice, or as a list of wrong numbers or specs.
_SLIP_OF_CHOICE = re.compile(r"\n +> ")
_SLIP = re.compile(r"- `?(?P<answer>[^:`]+)`?: (?P<shown>.+)", re.DOTALL)
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
    first, *listed = re.split(r"\n(?=- )", written)
    match kind:
        case "number":
            spec, answer = _number(first)
            wrong = [_slip(each) for each in listed]
        case "choice":
            spec, answer, wrong = _choice(written)
        case _:
            spec, answer = _spec("spec"), first.strip("`")
            wrong = [_slip(each) for each in listed]
    try:
        right = read_answer(spec, answer)
        slips = tuple((read_answer(spec, each), shown) for each, shown in wrong)
    except AnswerUnfit as unfit:
        raise QuestionUnfit(f"has an answer that cannot be read: {unfit}") from None
    if any(agrees(spec, each, right) for each, _ in slips):
        raise QuestionUnfit("says of its right answer what a wrong one shows")
    return Question(text, spec, right, "\n\n".join(explanation), slips)


def _number(written: str) -> tuple[AnswerSpec, str]:
    found = _AMOUNT.fullmatch(written)
    if found is None:
        raise QuestionUnfit(f"has {written[:40]!r} as its answer: write a claim, as {{{{ claim(…) }}}}")
    return _spec("number", unit=found["unit"] or "", tolerance=_TOLERANCE), found["number"].replace(",", "")


def _slip(listed: str) -> tuple[str, str]:
    found = _SLIP.fullmatch(listed)
    if found is None:
        raise QuestionUnfit(f"has {listed[:40]!r} below its answer: write a wrong answer, a colon, and what it shows")
    # Without its unit, which is that of the answer.
    amount = _AMOUNT.fullmatch(found["answer"])
    answer = amount["number"].replace(",", "") if amount else found["answer"]
    return answer, " ".join(found["shown"].split())


def _choice(written: str) -> tuple[AnswerSpec, str, list[tuple[str, str]]]:
    """The choices, the right one, and what wrong ones show."""
    items = [_ITEM.fullmatch(each) for each in re.split(r"\n(?=- )", written)]
    choices, right, slips = [], [], []
    for item in items:
        if item is None:
            break
        text, *shown = (" ".join(each.split()) for each in _SLIP_OF_CHOICE.split(item["text"]))
        choices.append(text)
        if item["mark"] == "x":
            right.append(text)
        if shown:
            slips.append((text, " ".join(shown)))
    if len(choices) != len(items) or len(choices) < 2 or len(right) != 1:
        raise QuestionUnfit("needs a list of choices, '- [x] …' for the right one and '- [ ] …' for each of the others")
    return _spec("choice", choices=choices), right[0], slips


def _spec(kind: str, **keys: Any) -> AnswerSpec:
    try:
        return AnswerSpec.model_validate({"id": "answer", "label": "Your answer", "kind": kind, **keys})
    except ValidationError as error:
        raise QuestionUnfit("; ".join(each["msg"] for each in error.errors())) from None


@dataclass(frozen=True, slots=True)
class Reply:
    """The page's reply to an answer, as plain text, because it quotes what a reader typed.

    `unfit` could not be read, and is neither right nor wrong. `slip` is Markdown: what this wrong answer shows.
    """

    outcome: Literal["right", "wrong", "unfit"]
    message: str
    slip: str = ""


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
    slip = next((shown for wrong, shown in question.slips if agrees(spec, mine, wrong)), "")
    return Reply("wrong", f"This is not the right answer.{note} Try again, or open the answer below.", slip)


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
