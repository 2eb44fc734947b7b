"""REST: explorations, which say what a source compiles to."""

from typing import Annotated

from fastapi import Header, Request, Response

from app.accounts.web import MaybeGuest, MaybeUser, Reader, ReaderOrGuest, Submitter, SubmitterOrGuest
from app.core.rest.actions import Actions
from app.core.rest.paging import NewestFirst
from app.core.rest.problem_json import located_response, problem_responses
from app.core.services import Provided
from app.grading.following import STATUS_EVENTS, LastEventId, Wait, event_response, followed_job, wait_for_end
from app.learning.explorer.schemas import ExplorationJSON, ExplorationPage, ExplorationSummary, NewExplorationJSON
from app.learning.explorer.service import Explorations

actions = Actions("explorer")
router = actions.api
_PAGE = "/explore/{exploration_id}"
_MINIMAL = "return=minimal"
Prefer = Annotated[
    str | None,
    Header(
        max_length=200,
        description=f"`{_MINIMAL}` leaves sources and result out of the response, which the address in Location has.",
    ),
]
# A guest compiles for small meshes, and sees nothing but what their browser sent.


@router.post(
    "/explorations",
    summary="Explore: compile a source for each mesh of a problem, or a function for a mesh, without a verdict",
    status_code=202,
    response_model=ExplorationJSON | ExplorationSummary,
    responses={
        **located_response(202, "exploration", "Queued, or finished already if the same was explored before"),
        **problem_responses(404, 409),
    },
)
async def explore(
    request: Request,
    response: Response,
    user: SubmitterOrGuest,
    body: NewExplorationJSON,
    explorations: Provided[Explorations],
    prefer: Prefer = None,
) -> Response | ExplorationSummary:
    requested = await explorations.request(
        user,
        body.subject,
        body.source,
        body.against,
        chip=body.chip,
        options=body.xla_options,
        against_options=body.against_xla_options,
    )
    location = f"/api/v1/explorations/{requested.id}"
    if prefer is None or _MINIMAL not in prefer.replace(" ", "").lower():
        return Response(requested.as_json(), 202, {"Location": location}, "application/json")
    response.headers["Location"] = location
    response.headers["Preference-Applied"] = _MINIMAL
    return requested.exploration.summary


@router.get("/explorations", summary="Your explorations, newest first")
async def list_explorations(
    user: Reader,
    explorations: Provided[Explorations],
    cursor: NewestFirst,
) -> ExplorationPage:
    found = await explorations.list(user, cursor)
    return ExplorationPage(explorations=found, next=found.next)


@router.get(
    "/explorations/{exploration_id}",
    summary="One exploration: your own, or one that is shared",
    responses=problem_responses(401, 403),
)
async def get_exploration(
    user: MaybeUser, guest: MaybeGuest, exploration_id: str, explorations: Provided[Explorations], wait: Wait = None
) -> ExplorationJSON:
    if not wait or (reader := user or guest) is None:
        return await explorations.get(user or guest, exploration_id)
    return await wait_for_end(followed_job(explorations, reader, exploration_id), wait)


@router.get(
    "/explorations/{exploration_id}/events",
    summary="Follow an exploration with server-sent events",
    **STATUS_EVENTS,
)
async def follow_exploration(
    user: ReaderOrGuest,
    exploration_id: str,
    explorations: Provided[Explorations],
    last_event_id: LastEventId = None,
) -> Response:
    return await event_response(followed_job(explorations, user, exploration_id), last_event_id)


@actions.put(
    "/explorations/{exploration_id}/sharing",
    form=f"{_PAGE}/share",
    then=_PAGE,
    summary="Share an exploration by link",
    status_code=204,
)
async def share_exploration(user: Submitter, exploration_id: str, explorations: Provided[Explorations]) -> None:
    await explorations.share(user, exploration_id, shared=True)


@actions.delete(
    "/explorations/{exploration_id}/sharing",
    form=f"{_PAGE}/unshare",
    then=_PAGE,
    summary="Stop sharing an exploration",
)
async def unshare_exploration(user: Submitter, exploration_id: str, explorations: Provided[Explorations]) -> None:
    await explorations.share(user, exploration_id, shared=False)


@actions.delete(
    "/explorations/{exploration_id}",
    form=f"{_PAGE}/remove",
    then="/explore",
    summary="Delete an exploration; one that is queued or running is stopped",
)
async def remove_exploration(user: SubmitterOrGuest, exploration_id: str, explorations: Provided[Explorations]) -> None:
    await explorations.remove(user, exploration_id)
