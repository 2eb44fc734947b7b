"""REST: submit, run, read, list, follow and cancel attempts."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from app.accounts.caller import User
from app.accounts.web import admit_guests, require_scope
from app.attempts.own_inputs import choose
from app.attempts.ranking import ranking
from app.attempts.schemas import (
    EXAMPLE_FINISHED,
    EXAMPLE_QUEUED,
    AttemptJSON,
    AttemptPage,
    AttemptSummaryJSON,
    EventJSON,
    ProgressJSON,
    RankingJSON,
    RunJSON,
    SubmissionJSON,
)
from app.attempts.service import Attempts
from app.attempts.services import AttemptServices
from app.attempts.standing import standings
from app.attempts.waiting import VERDICT_EVENT, event_stream, wait_for_end
from app.queue.status import ENDED, AttemptKind
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["attempts"])

Reader = Annotated[User, Depends(require_scope("read"))]
Submitter = Annotated[User, Depends(require_scope("submit"))]
# A guest runs without an account, and sees nothing but their own runs.
ReaderOrGuest = Annotated[User, Depends(admit_guests("read"))]
SubmitterOrGuest = Annotated[User, Depends(admit_guests("submit"))]
Wait = Annotated[
    float | None,
    Query(ge=0, le=60, allow_inf_nan=False, description="Seconds to wait for the verdict. If it arrives, 200."),
]
# Visible ASCII, which every client and proxy transmits unchanged.
IdempotencyKey = Annotated[
    str | None,
    Header(
        pattern=r"^[!-~]{1,255}$",
        description="A name of your choice for this request. If you send it again with the same body, the response "
        "is the same attempt, and no second one is created. With another body, the request is refused.",
    ),
]
_STREAM_EXAMPLE = (
    'event: status\nid: running-9a0e5c11\ndata: {"status": "running", "phase": "case 3 of 10"}\n\n'
    'event: verdict\nid: verdict\ndata: {"id": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c", "status": "finished", …}\n\n'
)
_SUBMIT: dict[str, Any] = {
    "status_code": 202,
    "response_model": AttemptJSON,
    "responses": {
        202: {
            "description": "Queued. Follow it at the address in the Location header",
            "headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the attempt"}},
            "content": {"application/json": {"example": EXAMPLE_QUEUED}},
        },
        200: {
            "description": "It finished within `wait` seconds",
            "model": AttemptJSON,
            "content": {"application/json": {"example": EXAMPLE_FINISHED}},
        },
        **problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 503),
    },
}


def _attempts(request: Request) -> Attempts:
    return services_of(request, AttemptServices).attempts


@router.post(
    "/problems/{slug}/attempts",
    summary="Submit: all cases, with a score",
    **_SUBMIT,
    openapi_extra=body_of(SubmissionJSON),
)
async def submit_attempt(
    request: Request,
    response: Response,
    user: Submitter,
    slug: str,
    wait: Wait = None,
    idempotency_key: IdempotencyKey = None,
) -> AttemptJSON:
    return await _submit(request, response, user, slug, "attempt", wait, idempotency_key)


@router.post(
    "/problems/{slug}/runs",
    summary="Run: public cases or inputs of your own, without a score",
    **_SUBMIT,
    openapi_extra=body_of(RunJSON),
)
async def submit_run(
    request: Request,
    response: Response,
    user: SubmitterOrGuest,
    slug: str,
    wait: Wait = None,
    idempotency_key: IdempotencyKey = None,
) -> AttemptJSON:
    return await _submit(request, response, user, slug, "run", wait, idempotency_key)


async def _submit(
    request: Request,
    response: Response,
    user: User,
    slug: str,
    kind: AttemptKind,
    wait_s: float | None,
    idempotency_key: str | None,
) -> AttemptJSON:
    services = services_of(request, AttemptServices)
    attempts = services.attempts
    model = RunJSON if kind == "run" else SubmissionJSON
    body = await read_json(request, model, max_bytes=services.settings.max_body_bytes)
    own = None
    if isinstance(body, RunJSON) and body.inputs is not None:
        own = choose(services.catalogue.get(slug), body.inputs.seed, body.inputs.mesh, body.inputs.values)
    view = await attempts.submit(user, slug, body.source, kind, idempotency_key, own)
    response.headers["Location"] = f"/api/v1/attempts/{view.id}"
    if wait_s:
        view = await wait_for_end(attempts, user, view.id, wait_s)
    response.status_code = 200 if view.status in ENDED else 202
    return AttemptJSON.of(view)


@router.get(
    "/problems/{slug}/ranking",
    summary="The most efficient accepted attempt of each user",
    responses=problem_responses(401, 403, 404, 422),
)
async def get_ranking(
    request: Request, user: Reader, slug: str, limit: Annotated[int, Query(ge=1, le=100)] = 50
) -> RankingJSON:
    services = services_of(request, AttemptServices)
    package = services.catalogue.get(slug)
    return RankingJSON.of(package.slug, await ranking(services.database, package.slug, user, limit))


@router.get("/me/progress", summary="Your best score at each problem", responses=problem_responses(401, 403))
async def get_progress(request: Request, user: Reader) -> ProgressJSON:
    return ProgressJSON.of(await standings(services_of(request, AttemptServices).database, user))


@router.get(
    "/attempts", summary="Your attempts and runs, newest first", responses=problem_responses(401, 403, 404, 422)
)
async def list_attempts(
    request: Request,
    user: Reader,
    problem: Annotated[str | None, Query(pattern=r"^[a-z][a-z0-9_]{1,63}$", description="Only of this problem")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
) -> AttemptPage:
    # One more than the limit shows whether there is a next page.
    attempts = await _attempts(request).list(user, problem, min(limit + 1, 101), before)
    more = len(attempts) > limit
    return AttemptPage(
        attempts=[AttemptSummaryJSON.of(each) for each in attempts[:limit]],
        next=attempts[limit - 1].id if more else None,
    )


@router.get(
    "/attempts/{attempt_id}",
    summary="One attempt",
    responses=problem_responses(401, 403, 404, 422),
)
async def get_attempt(request: Request, user: ReaderOrGuest, attempt_id: str, wait: Wait = None) -> AttemptJSON:
    return AttemptJSON.of(await wait_for_end(_attempts(request), user, attempt_id, wait or 0.0))


@router.get(
    "/attempts/{attempt_id}/events",
    summary="Follow an attempt with server-sent events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "`status` on every change, and finally `verdict` with the attempt, which ends the stream",
            "content": {"text/event-stream": {"schema": EventJSON.model_json_schema(), "example": _STREAM_EXAMPLE}},
        },
        204: {"description": "The client has already received the verdict"},
        **problem_responses(401, 403, 404, 422),
    },
)
async def follow_attempt(
    request: Request,
    user: ReaderOrGuest,
    attempt_id: str,
    last_event_id: Annotated[
        str | None,
        Header(
            max_length=100,
            description="The id of the last event before the connection was lost. That event is not sent again.",
        ),
    ] = None,
) -> Response:
    attempts = _attempts(request)
    view = await attempts.get(user, attempt_id)  # raises here, while a status code can still be sent
    if last_event_id == VERDICT_EVENT and view.status in ENDED:
        return Response(status_code=204)  # a browser then stops reconnecting
    return StreamingResponse(
        event_stream(attempts, user, view.id, last_event_id),
        media_type="text/event-stream",
        # Without X-Accel-Buffering, nginx delays events until its buffer is full.
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


@router.delete(
    "/attempts/{attempt_id}",
    summary="Cancel a queued or running attempt",
    responses=problem_responses(401, 403, 404, 409),
)
async def cancel_attempt(request: Request, user: SubmitterOrGuest, attempt_id: str) -> AttemptJSON:
    return AttemptJSON.of(await _attempts(request).cancel(user, attempt_id))
