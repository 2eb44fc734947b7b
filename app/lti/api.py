"""REST: the learning platforms, for owners."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from app.accounts.caller import Caller
from app.accounts.web import require_caller_role
from app.lti.schemas import DeploymentsJSON, NewPlatformJSON, PlatformJSON, PlatformList
from app.lti.services import LTIServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["learning platforms"])
Owner = Annotated[Caller, Depends(require_caller_role("owner", "account"))]


@router.get("/lti/platforms", summary="The learning platforms, as an owner", responses=problem_responses(401, 403))
async def list_platforms(request: Request, caller: Owner) -> PlatformList:
    platforms = await services_of(request, LTIServices).lti_platforms.all()
    return PlatformList(platforms=[PlatformJSON.of(each) for each in platforms])


@router.post(
    "/lti/platforms",
    status_code=201,
    summary="Register a learning platform (LTI 1.3), as an owner",
    responses=problem_responses(400, 401, 403, 409, 413, 415, 422),
    openapi_extra=body_of(NewPlatformJSON),
)
async def add_platform(request: Request, caller: Owner) -> PlatformJSON:
    body = await read_json(request, NewPlatformJSON)
    return PlatformJSON.of(await services_of(request, LTIServices).lti_platforms.add(caller, body.to_platform()))


@router.put(
    "/lti/platforms/{platform_id}/deployments",
    summary="Set the deployments from which launches are accepted, as an owner",
    responses=problem_responses(400, 401, 403, 404, 413, 415, 422),
    openapi_extra=body_of(DeploymentsJSON),
)
async def set_deployments(request: Request, platform_id: str, caller: Owner) -> PlatformJSON:
    platforms = services_of(request, LTIServices).lti_platforms
    body = await read_json(request, DeploymentsJSON)
    await platforms.set_deployments(caller, platform_id, body.deployments)
    return PlatformJSON.of(await platforms.get(platform_id))


@router.delete(
    "/lti/platforms/{platform_id}",
    status_code=204,
    summary="Remove a learning platform, as an owner; accounts stay",
    responses=problem_responses(401, 403, 404),
)
async def remove_platform(request: Request, platform_id: str, caller: Owner) -> None:
    await services_of(request, LTIServices).lti_platforms.remove(caller, platform_id)
