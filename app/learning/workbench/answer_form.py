"""The form of an answer-mode problem: its fields, what was written in them, and the source built from them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.accounts.caller import User
from app.core.database import Database
from app.core.errors import AnswersUnfit, QuestionChanged, QuestionsNotDrawn, Refused
from app.core.web.markdown import Prose
from app.grading.attempts.questions import (
    LastAnswer,
    Question,
    last_try_of,
    question_of,
    question_sent,
    sample_question,
)
from app.grading.attempts.views import AttemptJSON
from app.grading.queue.status import ENDED
from app.learning.workbench.answer_mesh import (
    Compared,
    Meaning,
    MeshPicture,
    compare_placements,
    meaning_of,
    picture_of,
)
from app.problems.problem_texts import ProblemTexts
from grader.answers.answer_text import example_of, show_answer, tolerance_text
from grader.checks.answer.values import TRIES_WITH_PARTS
from grader.core.template import fill
from grader.package.package import AnswerManifest, AnswerSpec, Package

PREFIX = "answer."
# Up to 12 tables of 12 rows and 8 columns, and a few hidden fields.
MAX_FIELDS = 12 * 12 * 8 + 8


@dataclass(frozen=True, slots=True)
class Control:
    """One input of the form. `label` is that of a cell in a table, empty elsewhere."""

    name: str
    value: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class AnswerField:
    """One answer: its controls, row by row for a table. `expected` is empty until it may be shown.

    `is_right` is None unless the answer in the field was graded. `last` is the answer of the last try. `meaning` is
    what a script can draw of an answer on the mesh.
    """

    spec: AnswerSpec
    controls: list[list[Control]]
    points: int
    is_right: bool | None
    last: LastAnswer | None
    meaning: Meaning | None
    compared: Compared | None
    write: str
    tolerance: str
    fault: str
    expected: str


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What the page shows to one user. `explanation` is None until it may be shown.

    `earns_parts`: right answers earn points although others are wrong. `first_fault` is the control for the focus.
    `sent` is the attempt that the page is about: while it is graded, and once it is rejected, its question and its
    answers are shown, and nothing can be written.
    """

    current: Question
    sent: AttemptJSON | None
    question: Prose
    mesh: MeshPicture | None
    fields: list[AnswerField]
    earns_parts: bool
    first_fault: str
    explanation: Prose | None

    @property
    def is_waiting(self) -> bool:
        return self.sent is not None and self.sent.status not in ENDED

    @property
    def is_rejected(self) -> bool:
        return self.sent is not None and self.sent.verdict_status == "rejected"

    @property
    def is_written(self) -> bool:
        """Whether the fields only show what was answered."""
        return self.is_waiting or self.is_rejected or self.current.state == "accepted"

    @property
    def again(self) -> str:
        """The first wrong answer, at which the next try begins."""
        return next((each.spec.id for each in self.fields if each.is_right is False), self.fields[0].spec.id)


class AnswerForms:
    """Safe to share between requests."""

    def __init__(self, database: Database, texts: ProblemTexts) -> None:
        self._database, self._texts = database, texts

    async def find(
        self,
        user: User | None,
        package: Package,
        refusal: Refused | None,
        written: Mapping[str, str],
        sent: AttemptJSON | None,
        *,
        is_closed: bool,
    ) -> AnswerForm | None:
        """None for code, and while the questions are not drawn. A guest gets a sample.

        Args:
          written: what was sent, by the name of the control.
          refusal: why it was refused.
          sent: an attempt of the user at this problem, whose answers are shown.
        """
        if not isinstance(package.manifest, AnswerManifest):
            return None
        try:
            async with self._database.reading() as session:
                current = await (question_of(session, user, package) if user else sample_question(session, package))
                last = await last_try_of(session, user, package) if user and current.state == "open" else {}
                answered = await question_sent(session, package, sent.source) if sent else None
        except QuestionsNotDrawn:
            return None
        # The answers stay in the fields if they were graded, and for as long as their question is the current one.
        if answered and sent and (sent.status not in ENDED or sent.verdict_status == "rejected"):
            current, last = answered, {}
        elif answered and current.state == "open" and answered.variant == current.variant:
            current = replace(current, answers=answered.answers)
        else:
            sent = sent if current.state == "open" else None
        current = replace(current, is_closed=is_closed)
        faults = refusal.extra.get("faults", {}) if isinstance(refusal, AnswersUnfit) else {}
        # What was written for an earlier question would be wrong for this one.
        values = {} if isinstance(refusal, QuestionChanged) else written
        return await self._form_of(package, package.manifest, current, values, faults, last, sent)

    async def _form_of(
        self,
        package: Package,
        manifest: AnswerManifest,
        current: Question,
        written: Mapping[str, str],
        faults: Mapping[str, str],
        last: Mapping[str, LastAnswer],
        sent: AttemptJSON | None,
    ) -> AnswerForm:
        """`faults` has what is wrong with each answer, by its id."""
        variant = current.variant
        mesh = picture_of(manifest, variant.parameters)
        values: dict[str, Any] = dict(current.answers or {})
        graded = {each.id: each.passed for each in sent.verdict.cases} if sent and sent.verdict else {}
        if current.state == "accepted":
            graded = dict.fromkeys(values, True)
        fields = [
            AnswerField(
                spec=each,
                controls=_controls(each, values.get(each.id), written),
                points=manifest.points[each.id],
                is_right=graded.get(each.id),
                last=last.get(each.id),
                meaning=meaning_of(each, mesh),
                compared=compare_placements(each, mesh, variant.truth[each.id], values.get(each.id))
                if graded.get(each.id) is False
                else None,
                write=example_of(each),
                tolerance=tolerance_text(each) if each.kind in ("number", "table") else "",
                fault=faults.get(each.id, ""),
                expected=show_answer(each, variant.truth[each.id]) if current.is_explained else "",
            )
            for each in manifest.answers
        ]
        texts = {"question": fill(package.files["question.md"], variant.parameters)}
        if current.is_explained:
            texts["explanation"] = fill(package.files["explanation.md"], variant.names())
        question, *explanation = await self._texts.render(package, texts)
        return AnswerForm(
            current,
            sent,
            question,
            mesh,
            fields,
            earns_parts=len(fields) > 1 and current.number_of_try <= TRIES_WITH_PARTS,
            first_fault=next((each.controls[0][0].name for each in fields if each.fault), ""),
            explanation=explanation[0] if explanation else None,
        )


def source_of(manifest: AnswerManifest, form: Mapping[str, str]) -> str:
    """The answers of a form as JSON, with the try that the form was made for."""
    answers: dict[str, Any] = {}
    for spec in manifest.answers:
        cells = [[form.get(each.name, "") for each in row] for row in _controls(spec, None, form)]
        answers[spec.id] = cells if spec.kind == "table" else cells[0][0]
    sent: dict[str, Any] = {"answers": answers}
    if form.get("try", "").isascii() and form.get("try", "").isdigit():
        sent["try"] = int(form["try"][:9])
    return json.dumps(sent)


def _controls(spec: AnswerSpec, value: Any, written: Mapping[str, str]) -> list[list[Control]]:
    if spec.kind != "table":
        shown = "" if value is None else show_answer(spec, value)
        name = f"{PREFIX}{spec.id}"
        return [[Control(name, written.get(name, shown))]]
    rows: list[list[Control]] = []
    for row, row_name in enumerate(spec.rows):
        rows.append([])
        for column, column_name in enumerate(spec.columns):
            name = f"{PREFIX}{spec.id}.{row}.{column}"
            shown = "" if value is None else str(value[row][column])
            rows[-1].append(Control(name, written.get(name, shown), f"{row_name}, {column_name}"))
    return rows
