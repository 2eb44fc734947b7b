"""Which question of an answer-mode problem a user is asked, and the source that their answers are stored as."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.errors import AnswersUnfit, NothingToRun, QuestionChanged, QuestionNotFound, QuestionsNotDrawn
from app.grading.attempts.models import GiveUpRow
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import shown_only
from app.problems.questions import questions_for
from grader.answers.answer_text import read_answer, read_answers, show_answer
from grader.answers.question_variants import AnswerSheet, Variant, Variants, read_object
from grader.package.package import AnswerManifest, Package
from grader.verdicts.verdict import Verdict

State = Literal["open", "accepted", "given_up"]


@dataclass(frozen=True, slots=True)
class Question:
    """What one user is asked now. Once it is over, `variant` may be shown with its answers, unless `is_closed`.

    `answers` are those that were accepted.
    """

    variant: Variant
    number_of_try: int
    state: State
    answers: dict[str, Any] | None = None
    is_closed: bool = False

    @property
    def is_explained(self) -> bool:
        return self.state != "open" and not self.is_closed


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """What was answered to the question of the last try, which had other numbers."""

    text: str
    is_right: bool


async def question_of(session: AsyncSession, user: User, package: Package) -> Question:
    """The question of the accepted attempt if there is one, else one that follows the rejected attempts.

    Only attempts that this version graded, and whose verdict the user may see, count: in an exam, a new question
    would reveal that the last answer was wrong.

    Raises:
      QuestionNotFound: the problem is of another mode.
      QuestionsNotDrawn.
    """
    if not isinstance(package.manifest, AnswerManifest):
        raise QuestionNotFound(
            f"The problem {package.slug!r} asks for code, not for answers. Its statement says what to write."
        )
    questions = await _drawn(session, package)
    mine = await _counted(session, user, package)
    accepted = select(AttemptRow.source).where(*mine, AttemptRow.verdict_status == "accepted")
    source = await session.scalar(accepted.order_by(AttemptRow.created_at, AttemptRow.id).limit(1))
    if source is not None:
        sheet = AnswerSheet.read(source)
        variant = next((each for each in questions.variants if each.number == sheet.variant), None)
        if variant is not None:
            return Question(variant, sheet.number_of_try, "accepted", sheet.answers)
    wrong = await session.scalar(select(func.count()).where(*mine, AttemptRow.verdict_status == "rejected"))
    gave_up = await session.get(GiveUpRow, (user.id, package.slug))
    number = 1 + (wrong or 0)
    return Question(questions.of(user.id, number), number, "given_up" if gave_up else "open")


async def sample_question(session: AsyncSession, package: Package) -> Question:
    """The question that every guest sees. A student may get the same numbers, so its answers are not shown.

    Raises:
      QuestionsNotDrawn.
    """
    return Question((await _drawn(session, package)).variants[0], 1, "open")


async def last_try_of(session: AsyncSession, user: User, package: Package) -> dict[str, LastAnswer]:
    """What the user answered in the last rejected attempt that `question_of` counts, by the id of the answer."""
    if not isinstance(package.manifest, AnswerManifest):
        return {}
    query = (
        select(AttemptRow.source, AttemptRow.verdict)
        .where(*await _counted(session, user, package), AttemptRow.verdict_status == "rejected")
        .order_by(AttemptRow.created_at.desc(), AttemptRow.id.desc())
        .limit(1)
    )
    last = (await session.execute(query)).one_or_none()
    answers = _answers_of(last.source) if last else None
    if last is None or answers is None:
        return {}
    right = {case.id: case.passed for case in Verdict.model_validate(last.verdict).cases}
    return {
        spec.id: LastAnswer(show_answer(spec, read_answer(spec, answers[spec.id])), right[spec.id])
        for spec in package.manifest.answers
        if spec.id in answers and spec.id in right
    }


async def question_sent(session: AsyncSession, package: Package, source: str) -> Question | None:
    """The question that a stored attempt at this version answered, with its answers, as it is while it is open.

    None if the version has no such question.
    """
    drawn = await questions_for(session, package.version)
    try:
        sheet = AnswerSheet.read(source)
    except ValueError:
        return None
    variant = next((each for each in drawn.variants if each.number == sheet.variant), None) if drawn else None
    return Question(variant, sheet.number_of_try, "open", sheet.answers) if variant else None


async def name_question(session: AsyncSession, user: User, package: Package, attempt: AttemptRow) -> None:
    """Before answers are stored, make their source canonical JSON that names their question. Leaves code as it is.

    Raises:
      NothingToRun.
      AnswersUnfit: an answer cannot be read. This is not a try.
      QuestionChanged: they name another question than the current one.
      QuestionsNotDrawn.
    """
    if not isinstance(package.manifest, AnswerManifest):
        return
    if attempt.kind == "run":
        raise NothingToRun("This problem asks for answers, so there is nothing to run. Submit them as an attempt.")
    sent, named = _sent(attempt.source)
    values, faults = read_answers(package.manifest, sent)
    if faults:
        labels = {each.id: each.label for each in package.manifest.answers}
        message = " ".join(f"{labels.get(name, name)}: {fault}" for name, fault in faults.items())
        raise AnswersUnfit(f"{message} Nothing was submitted, and no try was used.", faults=faults)
    if (earlier := await _earlier(session, attempt)) is not None and _answers_of(earlier) == values:
        # Answers that were sent twice with one idempotency key are for the same question.
        attempt.source = earlier
        return
    question = await question_of(session, user, package)
    _require_current(question, named)
    sheet = AnswerSheet(dict(values), question.variant.number, question.number_of_try, question.variant.parameters)
    attempt.source = sheet.source()


async def _drawn(session: AsyncSession, package: Package) -> Variants:
    questions = await questions_for(session, package.version)
    if questions is None:
        raise QuestionsNotDrawn(
            f"The questions of {package.slug!r} are being drawn. Try again in a minute.", headers={"Retry-After": "30"}
        )
    return questions


async def _counted(session: AsyncSession, user: User, package: Package) -> tuple[ColumnElement[bool], ...]:
    """The conditions for attempts that this version graded, and whose verdict the user may see."""
    return (
        AttemptRow.user_id == user.id,
        AttemptRow.problem == package.slug,
        AttemptRow.version == package.version,
        AttemptRow.kind == "attempt",
        *await shown_only(session, user_id=user.id, problem=package.slug),
    )


async def _earlier(session: AsyncSession, attempt: AttemptRow) -> str | None:
    """The source of the attempt that already has this idempotency key."""
    if attempt.idempotency_key is None:
        return None
    return await session.scalar(
        select(AttemptRow.source).where(
            AttemptRow.user_id == attempt.user_id, AttemptRow.idempotency_key == attempt.idempotency_key
        )
    )


def _sent(source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers, and what the source says about their question: `try` and `variant`, if anything."""
    try:
        fields = read_object(source)
    except ValueError as error:
        raise AnswersUnfit(
            f'{error} Write an object such as {{"bytes": "12 MiB"}}. Nothing was submitted, and no try was used.',
            faults={},
        ) from None
    if isinstance(fields.get("answers"), dict) and fields.keys() <= {"answers", "try", "variant", "parameters"}:
        return fields["answers"], {name: fields[name] for name in ("try", "variant") if name in fields}
    return fields, {}


def _require_current(question: Question, named: dict[str, Any]) -> None:
    current = {"try": question.number_of_try, "variant": question.variant.number}
    if any(value != current[name] for name, value in named.items()):
        raise QuestionChanged(
            f"After a wrong answer, the question has new numbers. Yours is now that of try {question.number_of_try}: "
            f"answer with its numbers. Nothing was submitted, and no try was used."
        )


def _answers_of(source: str) -> dict[str, object] | None:
    try:
        return AnswerSheet.read(source).answers
    except ValueError:
        return None
