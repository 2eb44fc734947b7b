"""REST: the points of an attempt, changed by hand."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.attempts.schemas import OverrideJSON
from app.people.reading import attempt_of
from app.people.schemas import NewOverrideJSON
from app.people.services import PeopleServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(prefix="/people/{person_id}/attempts/{attempt_id}/override", tags=["people"])
# `attempt_of` says whose, and at which problems.
Grader = Annotated[User, Depends(require_scope("instruct"))]


@router.put(
    "",
    summary="Give an attempt other points than its verdict does",
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422),
    openapi_extra=body_of(NewOverrideJSON),
)
async def override_score(request: Request, person_id: str, attempt_id: str, user: Grader) -> OverrideJSON:
    services = services_of(request, PeopleServices)
    _, attempt = await attempt_of(services, user, person_id, attempt_id)
    body = await read_json(request, NewOverrideJSON)
    return OverrideJSON.of(await services.overrides.override(user, attempt.id, body.score, body.reason))


@router.delete(
    "",
    status_code=204,
    summary="Let the points of the verdict count again",
    responses=problem_responses(401, 403, 404),
)
async def undo_override(request: Request, person_id: str, attempt_id: str, user: Grader) -> Response:
    services = services_of(request, PeopleServices)
    _, attempt = await attempt_of(services, user, person_id, attempt_id)
    await services.overrides.undo(user, attempt.id)
    return Response(status_code=204)
