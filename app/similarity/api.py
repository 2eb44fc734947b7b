"""REST: the similarity report of a problem, for instructors."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from app.accounts.caller import User
from app.accounts.web import require_role
from app.rest.problem_json import problem_responses
from app.services import services_of
from app.similarity.schemas import SimilarityJSON
from app.similarity.services import SimilarityServices

router = APIRouter(tags=["insight"])
Instructor = Annotated[User, Depends(require_role("instructor"))]


@router.get(
    "/problems/{slug}/similarity",
    summary="Students whose best submissions are identical or alike; the look is in the audit log",
    responses=problem_responses(401, 403, 404, 409, 422),
)
async def get_similarity(
    request: Request,
    slug: str,
    user: Instructor,
    course: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="Only students of this course")] = None,
) -> SimilarityJSON:
    services = services_of(request, SimilarityServices)
    of = await services.courses.get(user, course) if course else None
    return SimilarityJSON.of(await services.similarity.report(user, slug, of.id if of else None))
