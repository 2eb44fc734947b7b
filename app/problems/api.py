"""REST: the problems, open to everybody."""

from fastapi import APIRouter, Request

from app.problem_json import problem_responses
from app.problems.schemas import ProblemDetail, ProblemList, ProblemSummary
from app.problems.service import Catalogue

router = APIRouter(tags=["problems"])


def _catalogue(request: Request) -> Catalogue:
    catalogue: Catalogue = request.app.state.catalogue
    return catalogue


@router.get("/problems", summary="All problems")
async def list_problems(request: Request) -> ProblemList:
    return ProblemList(problems=[ProblemSummary.of(package) for package in _catalogue(request).all()])


@router.get("/problems/{slug}", summary="One problem", responses=problem_responses(404))
async def get_problem(request: Request, slug: str) -> ProblemDetail:
    return ProblemDetail.of(_catalogue(request).get(slug))
