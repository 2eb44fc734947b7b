"""REST: the similarity report of a problem, for instructors."""

from typing import Annotated

from fastapi import Depends, Query

from app.accounts.caller import User
from app.accounts.web import require_role
from app.courses.service import Courses
from app.rest.problem_json import problem_responses
from app.rest.routing import rest_router
from app.services import Provided
from app.similarity.schemas import SimilarityJSON
from app.similarity.service import Similarity

router = rest_router("insight")
Instructor = Annotated[User, Depends(require_role("instructor"))]


@router.get(
    "/problems/{slug}/similarity",
    summary="Students whose best submissions are identical or alike; the look is in the audit log",
    responses=problem_responses(409),
)
async def get_similarity(
    slug: str,
    user: Instructor,
    courses: Provided[Courses],
    similarity: Provided[Similarity],
    course: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="Only students of this course")] = None,
) -> SimilarityJSON:
    of = await courses.get(user, course) if course else None
    return SimilarityJSON.of(await similarity.report(user, slug, of.id if of else None))
