"""REST for instructors: grade earlier attempts again, see what would change, and apply it."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_role
from app.rejudging.schemas import ChangeJSON, ChangePage, NewRejudgeJSON, RejudgeCountJSON, RejudgeJSON, RejudgePage
from app.rejudging.service import Rejudging
from app.rejudging.services import RejudgingServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["authoring"])
Instructor = Annotated[User, Depends(require_role("instructor"))]
_ONE = "/problems/{slug}/rejudges/{rejudge_id}"
_LOCATION: dict[str, Any] = {
    "headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the rejudge"}}
}


def _rejudging(request: Request) -> Rejudging:
    return services_of(request, RejudgingServices).rejudging


@router.post(
    "/problems/{slug}/rejudge",
    summary="Grade attempts of other versions by this one, without changing scores until it is applied",
    status_code=202,
    responses={
        202: {
            "description": "Started, or already in progress. Follow it at the address in the Location header",
            **_LOCATION,
        },
        **problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 503),
    },
    openapi_extra=body_of(NewRejudgeJSON),
)
async def rejudge_problem(request: Request, response: Response, user: Instructor, slug: str) -> RejudgeJSON:
    body = await read_json(request, NewRejudgeJSON)
    rejudge = await _rejudging(request).request(slug, body.version, body.to_selection())
    response.headers["Location"] = f"/api/v1/problems/{rejudge.problem}/rejudges/{rejudge.id}"
    return RejudgeJSON.of(rejudge)


@router.post(
    "/problems/{slug}/rejudge/count",
    summary="How many attempts a rejudge with this body would grade, without starting it",
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422),
    openapi_extra=body_of(NewRejudgeJSON),
)
async def count_rejudge(request: Request, user: Instructor, slug: str) -> RejudgeCountJSON:
    body = await read_json(request, NewRejudgeJSON)
    return RejudgeCountJSON.of(await _rejudging(request).count(slug, body.version, body.to_selection()))


@router.get(
    "/problems/{slug}/rejudges",
    summary="The rejudges of a problem, newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_rejudges(
    request: Request,
    user: Instructor,
    slug: str,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
) -> RejudgePage:
    rejudges = await _rejudging(request).list(slug, limit + 1, before)
    return RejudgePage(
        rejudges=[RejudgeJSON.of(each) for each in rejudges[:limit]],
        next=rejudges[limit - 1].id if len(rejudges) > limit else None,
    )


@router.get(_ONE, summary="One rejudge and its progress", responses=problem_responses(401, 403, 404))
async def get_rejudge(request: Request, user: Instructor, slug: str, rejudge_id: str) -> RejudgeJSON:
    return RejudgeJSON.of(await _rejudging(request).get(slug, rejudge_id))


@router.get(
    f"{_ONE}/changes",
    summary="The attempts whose status or score it changes",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_changes(
    request: Request,
    user: Instructor,
    slug: str,
    rejudge_id: str,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    after: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
    losses: Annotated[bool, Query(description="Only attempts that lose points or the status `accepted`")] = False,
) -> ChangePage:
    rejudging = _rejudging(request)
    rejudge = await rejudging.get(slug, rejudge_id)
    changes = await rejudging.changes(slug, rejudge_id, limit + 1, after, only_losses=losses)
    return ChangePage(
        changes=[ChangeJSON.of(each, rejudge.version) for each in changes[:limit]],
        next=changes[limit - 1].attempt_id if len(changes) > limit else None,
    )


@router.post(
    f"{_ONE}/apply",
    summary="Put the new verdicts into effect",
    status_code=202,
    responses={
        202: {"description": "It is being applied, or already was"},
        **problem_responses(401, 403, 404, 409, 422),
    },
)
async def apply_rejudge(
    request: Request,
    user: Instructor,
    slug: str,
    rejudge_id: str,
    never_lower: Annotated[
        bool, Query(description="Attempts that would lose points or the status `accepted` keep their verdict")
    ] = False,
) -> RejudgeJSON:
    return RejudgeJSON.of(await _rejudging(request).apply(user, slug, rejudge_id, never_lower=never_lower))


@router.delete(
    _ONE,
    summary="Cancel it and drop its verdicts, without changing any attempt",
    responses=problem_responses(401, 403, 404, 409),
)
async def cancel_rejudge(request: Request, user: Instructor, slug: str, rejudge_id: str) -> RejudgeJSON:
    return RejudgeJSON.of(await _rejudging(request).cancel(slug, rejudge_id))
