"""What REST says of a question of mode answer."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.attempts.questions import Question
from grader.answer_text import example_of
from grader.package.package import AnswerManifest, AnswerSpec, Package
from grader.variants import fill

_EXAMPLE: dict[str, Any] = {
    "problem": "opt_state_bytes",
    "version": "5f0c" * 16,
    "try": 2,
    "variant": 17,
    "state": "open",
    "question": "A model has **12** layers. …",
    "parameters": {"layers": 12, "width": 2048, "fsdp": 4},
    "answers": [
        {
            "id": "optimizer",
            "label": "Optimizer state on one device",
            "kind": "number",
            "unit": "bytes",
            "tolerance": 0.01,
            "choices": [],
            "rows": [],
            "columns": [],
            "write": "a number such as 12582912, 12 MiB or 12.6 MB",
        }
    ],
    "expected": None,
    "explanation": None,
}


class AnswerFieldJSON(BaseModel):
    """One answer to write. `tolerance` is relative, 0 for an exact one. `write` says what it may look like."""

    model_config = ConfigDict(extra="forbid")

    id: str
    label: str
    kind: Literal["number", "choice", "spec", "table"]
    unit: str
    tolerance: float
    choices: list[str]
    rows: list[str]
    columns: list[str]
    write: str

    @classmethod
    def of(cls, spec: AnswerSpec) -> "AnswerFieldJSON":
        return cls(**spec.model_dump(), write=example_of(spec))


class QuestionJSON(BaseModel):
    """Your question. `question` and `explanation` are Markdown with TeX. `try` is 1 until an answer of yours was wrong.

    `state` is `open`, `accepted` or `given_up`. While it is open, `expected` and `explanation` are null.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

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
    def of(cls, package: Package, current: Question) -> "QuestionJSON":
        assert isinstance(package.manifest, AnswerManifest)
        variant = current.variant
        return cls(
            problem=package.slug,
            version=package.version,
            number_of_try=current.number_of_try,
            variant=variant.number,
            state=current.state,
            question=fill(package.files["question.md"], variant.parameters),
            parameters=variant.parameters,
            answers=[AnswerFieldJSON.of(each) for each in package.manifest.answers],
            expected=variant.truth if current.is_explained else None,
            explanation=fill(package.files["explanation.md"], variant.names()) if current.is_explained else None,
        )
