"""REST: explorations, which say what a source compiles to."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from app.accounts.caller import User
from app.accounts.web import admit_guests, current_guest, current_user, require_scope
from app.explorer.schemas import (
    ExplorationJSON,
    ExplorationPage,
    ExplorationSummaryJSON,
    NewExplorationJSON,
)
from app.explorer.services import ExplorerServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["explorer"])
Reader = Annotated[User, Depends(require_scope("read"))]
MaybeUser = Annotated[User | None, Depends(current_user)]
MaybeGuest = Annotated[User | None, Depends(current_guest)]
Submitter = Annotated[User, Depends(require_scope("submit"))]
# A guest compiles for small meshes, and sees nothing but what their browser sent.
SubmitterOrGuest = Annotated[User, Depends(admit_guests("submit"))]


@router.post(
    "/explorations",
    summary="Explore: compile a source for each mesh of a problem, or a function for a mesh, without a verdict",
    status_code=202,
    responses={
        202: {
            "description": "Queued, or finished already if the same was explored before",
            "headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the exploration"}},
        },
        **problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 429),
    },
    openapi_extra=body_of(NewExplorationJSON),
)
async def explore(request: Request, response: Response, user: SubmitterOrGuest) -> ExplorationJSON:
    body = await read_json(request, NewExplorationJSON)
    explorations = services_of(request, ExplorerServices).explorations
    exploration = await explorations.request(user, body.subject, body.source, body.against, chip=body.chip)
    response.headers["Location"] = f"/api/v1/explorations/{exploration.summary.id}"
    return ExplorationJSON.of_whole(exploration)


@router.get("/explorations", summary="Your explorations, newest first", responses=problem_responses(401, 403, 404, 422))
async def list_explorations(
    request: Request,
    user: Reader,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
) -> ExplorationPage:
    found = await services_of(request, ExplorerServices).explorations.list(user, limit + 1, before)
    return ExplorationPage(
        explorations=[ExplorationSummaryJSON.of(each) for each in found[:limit]],
        next=found[limit - 1].id if len(found) > limit else None,
    )


@router.get(
    "/explorations/{exploration_id}",
    summary="One exploration: your own, or one that is shared",
    responses=problem_responses(401, 403, 404),
)
async def get_exploration(request: Request, user: MaybeUser, guest: MaybeGuest, exploration_id: str) -> ExplorationJSON:
    explorations = services_of(request, ExplorerServices).explorations
    return ExplorationJSON.of_whole(await explorations.get(user or guest, exploration_id))


@router.put(
    "/explorations/{exploration_id}/sharing",
    summary="Share an exploration by link",
    status_code=204,
    responses=problem_responses(401, 403, 404),
)
async def share_exploration(request: Request, user: Submitter, exploration_id: str) -> None:
    await services_of(request, ExplorerServices).explorations.share(user, exploration_id, shared=True)


@router.delete(
    "/explorations/{exploration_id}/sharing",
    summary="Stop sharing an exploration",
    status_code=204,
    responses=problem_responses(401, 403, 404),
)
async def unshare_exploration(request: Request, user: Submitter, exploration_id: str) -> None:
    await services_of(request, ExplorerServices).explorations.share(user, exploration_id, shared=False)


@router.delete(
    "/explorations/{exploration_id}",
    summary="Delete an exploration; one that is queued or running is stopped",
    status_code=204,
    responses=problem_responses(401, 403, 404),
)
async def remove_exploration(request: Request, user: SubmitterOrGuest, exploration_id: str) -> None:
    await services_of(request, ExplorerServices).explorations.remove(user, exploration_id)
