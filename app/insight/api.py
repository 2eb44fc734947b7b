"""REST: how students do at problems, for instructors."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from app.accounts.caller import User
from app.accounts.web import require_role
from app.insight.schemas import InsightJSON, InsightList, ProblemLineJSON
from app.insight.services import InsightServices
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
