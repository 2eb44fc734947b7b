"""REST: the similarity report of a problem, for instructors."""

from typing import Annotated

from fastapi import Query

from app.accounts.web import Instructor
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import rest_router
from app.core.services import Provided
from app.teaching.courses.service import Courses
from app.teaching.similarity.schemas import SimilarityJSON
from app.teaching.similarity.service import Similarity

router = rest_router("insight")


@router.get(
    "/problems/{slug}/similarity",
    summary="Students whose best submissions are identical or similar; each request is recorded in the audit log",
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
