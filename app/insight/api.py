"""REST: how students do at problems, for instructors."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from app.accounts.caller import User
from app.accounts.web import require_role
from app.authoring.schemas import UploadJSON
from app.insight.schemas import (
    ClusterJSON,
    ClusterMembersJSON,
    InsightJSON,
    InsightList,
    MemberJSON,
    NewMisconceptionJSON,
    ProblemLineJSON,
)
from app.insight.services import InsightServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["insight"])
Instructor = Annotated[User, Depends(require_role("instructor"))]


@router.get("/insight", summary="How students do at each problem, in a line", responses=problem_responses(401, 403))
async def list_insight(request: Request, user: Instructor) -> InsightList:
    lines = await services_of(request, InsightServices).insight.of_all()
    return InsightList(problems=[ProblemLineJSON.of(each) for each in lines])


@router.get(
    "/problems/{slug}/insight",
    summary="How students do at one problem, and where they stop",
    responses=problem_responses(401, 403, 404),
)
async def get_insight(request: Request, slug: str, user: Instructor) -> InsightJSON:
    services = services_of(request, InsightServices)
    problem = services.catalogue.get(slug)
    return InsightJSON.of(
        problem.slug, problem.version, await services.insight.of_problem(problem.slug, problem.version)
    )


@router.get(
    "/problems/{slug}/insight/clusters/{key}",
    summary="The attempts of a cluster without a known misconception",
    responses=problem_responses(401, 403, 404),
)
async def get_cluster(request: Request, slug: str, key: str, user: Instructor) -> ClusterMembersJSON:
    services = services_of(request, InsightServices)
    problem = services.catalogue.get(slug)
    cluster, members = await services.insight.cluster(problem.slug, problem.version, key)
    return ClusterMembersJSON(cluster=ClusterJSON.of(cluster), members=[MemberJSON.of(each) for each in members])


@router.post(
    "/problems/{slug}/insight/misconceptions",
    status_code=201,
    summary="Add an attempt to a draft of the problem, as a rejected submission with a misconception",
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422),
    openapi_extra=body_of(NewMisconceptionJSON),
)
async def add_misconception(request: Request, slug: str, user: Instructor) -> UploadJSON:
    services = services_of(request, InsightServices)
    problem = services.catalogue.get(slug)
    body = await read_json(request, NewMisconceptionJSON)
    upload = await services.misconceptions.add(user, problem.slug, body.attempt, body.text, body.base)
    return UploadJSON.of(upload)
