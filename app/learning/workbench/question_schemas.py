"""REST responses about the question of an answer-mode problem."""

from typing import Any, Literal

from pydantic import Field

from app.core.view import View
from app.grading.attempts.questions import Question
from grader.answers.answer_text import example_of
from grader.core.template import fill
from grader.package.package import AnswerManifest, AnswerSpec, Package


class AnswerFieldJSON(View):
    """One answer to write. `tolerance` is relative, 0 for an exact one. `write` says what it may look like.

    A right answer earns its `points` in the first three tries, even if others are wrong.
    """

    id: str
    label: str
    kind: Literal["number", "choice", "spec", "table"]
    unit: str
    tolerance: float
    choices: list[str]
    rows: list[str]
    columns: list[str]
    points: int
    write: str

    @classmethod
    def with_points(cls, spec: AnswerSpec, points: int) -> "AnswerFieldJSON":
        return cls(**spec.model_dump(exclude={"placement_shown"}), points=points, write=example_of(spec))


class QuestionJSON(View):
    """Your question. `question` and `explanation` are Markdown with TeX. `try` is 1 until one of your answers is wrong.

    `state` is `open`, `accepted` or `given_up`. While it is open, `expected` and `explanation` are null.
    """

    problem: str
    version: str
    number_of_try: int = Field(serialization_alias="try")
    variant: int
    state: Literal["open", "accepted", "given_up"]
    question: str
    parameters: dict[str, Any]
    answers: list[AnswerFieldJSON]
    expected: dict[str, Any] | None
    explanation: str | None

    @classmethod
    def at_problem(cls, package: Package, current: Question) -> "QuestionJSON":
        assert isinstance(package.manifest, AnswerManifest)
        variant, points = current.variant, package.manifest.points
        return cls.read_from(
            current,
            problem=package.slug,
            version=package.version,
            variant=variant.number,
            question=fill(package.files["question.md"], variant.parameters),
            parameters=variant.parameters,
            answers=[AnswerFieldJSON.with_points(each, points[each.id]) for each in package.manifest.answers],
            expected=variant.truth if current.is_explained else None,
            explanation=fill(package.files["explanation.md"], variant.names()) if current.is_explained else None,
        )
