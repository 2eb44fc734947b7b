"""REST: the learning platforms, for owners."""

from typing import Annotated

from fastapi import Depends

from app.accounts.caller import Caller
from app.accounts.web import require_caller_role
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import rest_router
from app.core.services import Provided
from app.teaching.lti.platforms import Platform, Platforms
from app.teaching.lti.schemas import DeploymentsJSON, NewPlatformJSON, PlatformList

router = rest_router("learning platforms")
Owner = Annotated[Caller, Depends(require_caller_role("owner", "account"))]


@router.get("/lti/platforms", summary="The learning platforms, as an owner")
async def list_platforms(caller: Owner, lti_platforms: Provided[Platforms]) -> PlatformList:
    platforms = await lti_platforms.all()
    return PlatformList(platforms=platforms)


@router.post(
    "/lti/platforms",
    status_code=201,
    summary="Register a learning platform (LTI 1.3), as an owner",
    responses=problem_responses(409),
)
async def add_platform(caller: Owner, body: NewPlatformJSON, lti_platforms: Provided[Platforms]) -> Platform:
    return await lti_platforms.add(caller, body.to_platform())


@router.put(
    "/lti/platforms/{platform_id}/deployments",
    summary="Set the deployments from which launches are accepted, as an owner",
)
async def set_deployments(
    platform_id: str, caller: Owner, body: DeploymentsJSON, platforms: Provided[Platforms]
) -> Platform:
    await platforms.set_deployments(caller, platform_id, body.deployments)
    return await platforms.get(platform_id)


@router.delete(
    "/lti/platforms/{platform_id}", status_code=204, summary="Remove a learning platform, as an owner; accounts stay"
)
async def remove_platform(platform_id: str, caller: Owner, lti_platforms: Provided[Platforms]) -> None:
    await lti_platforms.remove(caller, platform_id)
