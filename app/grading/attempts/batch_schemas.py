"""REST bodies and responses for several attempts at once."""

from typing import Annotated

from pydantic import Field

from app.core.errors import Refused
from app.core.rest.body import RequestBody
from app.core.rest.problem_json import ProblemJSON, problem_content
from app.core.view import View
from app.grading.attempts.views import AttemptJSON
from app.grading.queue.status import AttemptKind

# As many as a user may have waiting by default. Any further ones would only be refused.
MOST = 20


class BatchItemJSON(RequestBody):
    """One submission. The same `idempotency_key` with the same item creates one attempt, however often it is sent."""

    problem: str = Field(max_length=64)
    kind: AttemptKind = "attempt"
    # Without the pattern of a single submission: an invalid source is an error of its item, not of the batch.
    source: str
    idempotency_key: Annotated[str, Field(pattern=r"^[!-~]{1,255}$")] | None = None


class BatchJSON(RequestBody):
    """Each item is stored or refused independently."""

    items: list[BatchItemJSON] = Field(min_length=1, max_length=MOST)


class BatchAnswerJSON(View):
    """The outcome of one item: the attempt, or the error that it would have caused alone. One of the two is null."""

    attempt: AttemptJSON | None
    error: ProblemJSON | None

    @classmethod
    def of(cls, outcome: AttemptJSON | Refused) -> "BatchAnswerJSON":
        if isinstance(outcome, Refused):
            return cls(attempt=None, error=ProblemJSON.model_validate(problem_content(outcome)))
        return cls(attempt=outcome, error=None)


class BatchAnswersJSON(View):
    """One entry per item, in the order of the request."""

    items: list[BatchAnswerJSON]
