"""REST: submit, run, read, list, follow and cancel attempts. A page has the button that cancels."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from app.accounts.caller import User
from app.accounts.web import Reader, ReaderOrGuest, Submitter, SubmitterOrGuest
from app.core.database import Database
from app.core.errors import AttemptFinished, Refused, TooManyFollowed
from app.core.rest.actions import Actions, FormPage, Typed
from app.core.rest.paging import NewestFirst
from app.core.rest.problem_json import located_response, problem_responses
from app.core.rest.routing import MaxBytes
from app.core.services import Provided
from app.grading.attempts.live_updates import followed_attempt
from app.grading.attempts.own_inputs import choose
from app.grading.attempts.progress import standings
from app.grading.attempts.ranking import ranking
from app.grading.attempts.schemas import (
    AttemptPage,
    EventJSON,
    ProgressJSON,
    RankingJSON,
    RunJSON,
    SubmissionJSON,
)
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptJSON
from app.grading.following import LastEventId, event_response, stream_responses, wait_for_end
from app.grading.queue.status import ENDED
from app.problems.catalogue import Catalogue


@dataclass(frozen=True)
class CancelPage(FormPage):
    """The page of an attempt, with the button that cancels it."""

    attempt_id: str
    path = "/attempts/{attempt_id}"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        # It may finish before the click arrives. Its page then shows the verdict, which is even better.
        if isinstance(refusal, AttemptFinished):
            return await self.done(action, None)
        raise refusal


actions = Actions("attempts", CancelPage)
router = actions.api

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
        **located_response(202, "attempt", "Queued. Follow it at the address in the Location header"),
        200: {
            "description": "It finished within `wait` seconds",
            "model": AttemptJSON,
        },
        **problem_responses(409),
    },
}


LONGEST_BODY = MaxBytes(lambda settings: settings.max_body_bytes)


@router.post("/problems/{slug}/attempts", summary="Submit: all cases, with a score", **_SUBMIT)
async def submit_attempt(
    response: Response,
    user: Submitter,
    slug: str,
    attempts: Provided[Attempts],
    body: Annotated[SubmissionJSON, LONGEST_BODY],
    wait: Wait = None,
    idempotency_key: IdempotencyKey = None,
) -> AttemptJSON:
    attempt = await attempts.submit(user, slug, body.source, "attempt", idempotency_key)
    return await _answer(response, attempts, user, attempt, wait)


@router.post("/problems/{slug}/runs", summary="Run: public cases or inputs of your own, without a score", **_SUBMIT)
async def submit_run(
    response: Response,
    user: SubmitterOrGuest,
    slug: str,
    attempts: Provided[Attempts],
    catalogue: Provided[Catalogue],
    body: Annotated[RunJSON, LONGEST_BODY],
    wait: Wait = None,
    idempotency_key: IdempotencyKey = None,
) -> AttemptJSON:
    inputs = body.inputs
    own = None if inputs is None else choose(catalogue.get(slug), inputs.seed, inputs.mesh, inputs.values)
    attempt = await attempts.submit(user, slug, body.source, "run", idempotency_key, own)
    return await _answer(response, attempts, user, attempt, wait)


async def _answer(
    response: Response, attempts: Attempts, user: User, attempt: AttemptJSON, wait_s: float | None
) -> AttemptJSON:
    response.headers["Location"] = f"/api/v1/attempts/{attempt.id}"
    if wait_s:
        # The attempt is stored, so the request is not refused: its response does not wait.
        with suppress(TooManyFollowed):
            attempt = await wait_for_end(followed_attempt(attempts, user, attempt.id), wait_s)
    response.status_code = 200 if attempt.status in ENDED else 202
    return attempt


@router.get("/problems/{slug}/ranking", summary="The most efficient accepted attempt of each user")
async def get_ranking(
    user: Reader,
    slug: str,
    catalogue: Provided[Catalogue],
    database: Provided[Database],
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> RankingJSON:
    package = catalogue.get(slug)
    return RankingJSON.at_problem(package.slug, await ranking(database, package.slug, user, limit))


@router.get("/me/progress", summary="Your best score at each problem")
async def get_progress(user: Reader, database: Provided[Database]) -> ProgressJSON:
    return ProgressJSON.of(await standings(database, user))


@router.get("/attempts", summary="Your attempts and runs, newest first")
async def list_attempts(
    request: Request,
    user: Reader,
    attempts: Provided[Attempts],
    cursor: NewestFirst,
    problem: Annotated[str | None, Query(pattern=r"^[a-z][a-z0-9_]{1,63}$", description="Only of this problem")] = None,
) -> AttemptPage:
    found = await attempts.list(user, cursor, problem)
    return AttemptPage(attempts=found, next=found.next)


@router.get("/attempts/{attempt_id}", summary="One attempt")
async def get_attempt(
    user: ReaderOrGuest, attempt_id: str, attempts: Provided[Attempts], wait: Wait = None
) -> AttemptJSON:
    return await wait_for_end(followed_attempt(attempts, user, attempt_id), wait or 0.0)


@router.get(
    "/attempts/{attempt_id}/events",
    summary="Follow an attempt with server-sent events",
    response_class=StreamingResponse,
    responses=stream_responses(EventJSON, _STREAM_EXAMPLE),
)
async def follow_attempt(
    user: ReaderOrGuest,
    attempt_id: str,
    attempts: Provided[Attempts],
    last_event_id: LastEventId = None,
) -> Response:
    return await event_response(followed_attempt(attempts, user, attempt_id), last_event_id)


@actions.delete(
    "/attempts/{attempt_id}",
    form="/attempts/{attempt_id}/cancel",
    status_code=200,
    summary="Cancel a queued or running attempt",
    responses=problem_responses(409),
)
async def cancel_attempt(user: SubmitterOrGuest, attempt_id: str, attempts: Provided[Attempts]) -> AttemptJSON:
    return await attempts.cancel(user, attempt_id)
