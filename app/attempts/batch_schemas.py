"""REST bodies and responses for several attempts at once."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.attempts.schemas import EXAMPLE_FINISHED, EXAMPLE_QUEUED, EXAMPLE_SOURCE, AttemptJSON
from app.attempts.views import AttemptView
from app.errors import Refused
from app.queue.status import AttemptKind
from app.rest.problem_json import ProblemJSON, problem_content

# As many as a user may have waiting by default. Any further ones would only be refused.
MOST = 20
_ITEM: dict[str, Any] = {"problem": "fsdp_step", "kind": "attempt", "source": EXAMPLE_SOURCE, "idempotency_key": "a1"}
_REFUSED: dict[str, Any] = {
    "type": "/help/errors#problem-not-found",
    "title": "There is no such problem",
    "status": 404,
    "detail": "There is no problem 'fsdp_stop'. Did you mean 'fsdp_step'?",
    "slug": "problem-not-found",
    "suggestion": "fsdp_step",
}


class BatchItemJSON(BaseModel):
    """One submission. The same `idempotency_key` with the same item creates one attempt, however often it is sent."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [_ITEM]})

    problem: str = Field(max_length=64)
    kind: AttemptKind = "attempt"
    # Without the pattern of a single submission: an invalid source is an error of its item, not of the batch.
    source: str
    idempotency_key: Annotated[str, Field(pattern=r"^[!-~]{1,255}$")] | None = None


class BatchJSON(BaseModel):
    """Each item is stored or refused independently."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [{"items": [_ITEM]}]})

    items: list[BatchItemJSON] = Field(min_length=1, max_length=MOST)


class BatchAnswerJSON(BaseModel):
    """The outcome of one item: the attempt, or the error that it would have caused alone. One of the two is null."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"attempt": EXAMPLE_QUEUED, "error": None}, {"attempt": None, "error": _REFUSED}]
        },
    )

    attempt: AttemptJSON | None
    error: ProblemJSON | None

    @classmethod
    def of(cls, outcome: AttemptView | Refused) -> "BatchAnswerJSON":
        if isinstance(outcome, Refused):
            return cls(attempt=None, error=ProblemJSON.model_validate(problem_content(outcome)))
        return cls(attempt=AttemptJSON.of(outcome), error=None)


class BatchAnswersJSON(BaseModel):
    """One entry per item, in the order of the request."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"items": [{"attempt": EXAMPLE_FINISHED, "error": None}, {"attempt": None, "error": _REFUSED}]}
            ]
        },
    )

    items: list[BatchAnswerJSON]
