"""REST: submit or read several attempts with one request."""

from collections.abc import Awaitable
from typing import Annotated

from fastapi import Query, Request

from app.accounts.request_limits import RequestCounts, count_more
from app.accounts.web import Reader, Submitter
from app.core.errors import FieldInvalid, Refused
from app.core.rest.routing import MaxBytes, RestRouter
from app.core.services import Provided
from app.grading.attempts.batch_schemas import MOST, BatchAnswerJSON, BatchAnswersJSON, BatchJSON
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptJSON

router = RestRouter("attempts")
MAX_BATCH_BYTES = 2 * 1024 * 1024
_LARGE = MaxBytes(MAX_BATCH_BYTES)


@router.post("/batch/attempts", summary=f"Submit up to {MOST} sources, each stored or refused independently")
async def submit_batch(
    request: Request,
    user: Submitter,
    attempts: Provided[Attempts],
    body: Annotated[BatchJSON, MaxBytes(MAX_BATCH_BYTES)],
    counts: Provided[RequestCounts],
) -> BatchAnswersJSON:
    if "idempotency-key" in request.headers:
        # A client that sends it relies on it: if it were ignored, attempts could be created twice.
        raise FieldInvalid("Idempotency-Key: give each item of a batch its own `idempotency_key` instead.")
    await count_more(request, counts, len(body.items) - 1)
    # In order: each one counts towards the number of attempts that a user may have waiting.
    return BatchAnswersJSON(
        items=[
            await _answer(attempts.submit(user, each.problem, each.source, each.kind, each.idempotency_key))
            for each in body.items
        ]
    )


@router.get("/batch/attempts", summary=f"Up to {MOST} attempts, by their ids")
async def get_batch(
    request: Request,
    user: Reader,
    attempts: Provided[Attempts],
    ids: Annotated[list[str], Query(alias="id", min_length=1, max_length=MOST, description="Repeat it: `?id=…&id=…`")],
    counts: Provided[RequestCounts],
) -> BatchAnswersJSON:
    await count_more(request, counts, len(ids) - 1)
    return BatchAnswersJSON(items=[await _answer(attempts.get(user, each)) for each in ids])


async def _answer(attempt: Awaitable[AttemptJSON]) -> BatchAnswerJSON:
    try:
        return BatchAnswerJSON.of(await attempt)
    except Refused as refusal:
        return BatchAnswerJSON.of(refusal)
