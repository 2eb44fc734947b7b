"""REST: submit or read several attempts with one request."""

from collections.abc import Awaitable
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from app.accounts.caller import User
from app.accounts.counted import count_more
from app.accounts.web import require_scope
from app.attempts.batch_schemas import MOST, BatchAnswerJSON, BatchAnswersJSON, BatchJSON
from app.attempts.service import Attempts
from app.attempts.services import AttemptServices
from app.attempts.views import AttemptView
from app.errors import FieldInvalid, Refused
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["attempts"])
Reader = Annotated[User, Depends(require_scope("read"))]
Submitter = Annotated[User, Depends(require_scope("submit"))]
MAX_BATCH_BYTES = 2 * 1024 * 1024


@router.post(
    "/batch/attempts",
    summary=f"Submit up to {MOST} sources, each stored or refused independently",
    responses=problem_responses(400, 401, 403, 413, 415, 422),
    openapi_extra=body_of(BatchJSON),
)
async def submit_batch(request: Request, user: Submitter) -> BatchAnswersJSON:
    if "idempotency-key" in request.headers:
        # A client that sends it relies on it: if it were ignored, attempts could be created twice.
        raise FieldInvalid("Idempotency-Key: give each item of a batch its own `idempotency_key` instead.")
    body = await read_json(request, BatchJSON, max_bytes=MAX_BATCH_BYTES)
    await count_more(request, len(body.items) - 1)
    attempts = _attempts(request)
    # In order: each one counts towards the number of attempts that a user may have waiting.
    return BatchAnswersJSON(
        items=[
            await _answer(attempts.submit(user, each.problem, each.source, each.kind, each.idempotency_key))
            for each in body.items
        ]
    )


@router.get(
    "/batch/attempts",
    summary=f"Up to {MOST} attempts, by their ids",
    responses=problem_responses(401, 403, 422),
)
async def get_batch(
    request: Request,
    user: Reader,
    ids: Annotated[list[str], Query(alias="id", min_length=1, max_length=MOST, description="Repeat it: `?id=…&id=…`")],
) -> BatchAnswersJSON:
    await count_more(request, len(ids) - 1)
    attempts = _attempts(request)
    return BatchAnswersJSON(items=[await _answer(attempts.get(user, each)) for each in ids])


async def _answer(attempt: Awaitable[AttemptView]) -> BatchAnswerJSON:
    try:
        return BatchAnswerJSON.of(await attempt)
    except Refused as refusal:
        return BatchAnswerJSON.of(refusal)


def _attempts(request: Request) -> Attempts:
    attempts = services_of(request, AttemptServices).attempts
    return attempts
