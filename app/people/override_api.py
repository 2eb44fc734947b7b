"""REST: the points of an attempt, changed by hand."""

from typing import Annotated

from fastapi import Depends, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.attempts.overrides import Overrides
from app.attempts.schemas import OverrideJSON
from app.people.reading import attempt_of
from app.people.schemas import NewOverrideJSON
from app.rest.problem_json import problem_responses
from app.rest.routing import rest_router
from app.services import services_of

router = rest_router("people", "/people/{person_id}/attempts/{attempt_id}/override")
# `attempt_of` says whose, and at which problems.
Grader = Annotated[User, Depends(require_scope("instruct"))]


@router.put("", summary="Give an attempt other points than its verdict does", responses=problem_responses(409))
async def override_score(
    request: Request, person_id: str, attempt_id: str, user: Grader, body: NewOverrideJSON
) -> OverrideJSON:
    services = services_of(request)
    _, attempt = await attempt_of(services, user, person_id, attempt_id)
    return OverrideJSON.of(await services[Overrides].override(user, attempt.id, body.score, body.reason))


@router.delete("", status_code=204, summary="Let the points of the verdict count again")
async def undo_override(request: Request, person_id: str, attempt_id: str, user: Grader) -> Response:
    services = services_of(request)
    _, attempt = await attempt_of(services, user, person_id, attempt_id)
    await services[Overrides].undo(user, attempt.id)
    return Response(status_code=204)
