"""REST: the similarity report of a problem, for instructors, and for assistants with the right `similarity`."""

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from app.accounts.caller import User
from app.accounts.web import Grader
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.teaching.courses.course_in_path import CourseForSimilarity
from app.teaching.courses.service import Course
from app.teaching.similarity.report_file import report_download
from app.teaching.similarity.report_filter import Narrowing
from app.teaching.similarity.schemas import SimilarityJSON
from app.teaching.similarity.service import Similarity, SimilarityReport
from app.teaching.similarity.submissions import Choice

router = RestRouter("insight")
Attempts = Annotated[
    Choice,
    Query(description="best, last: each student's best or last accepted attempt; all: every attempt with a score"),
]
_CSV: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A row for each pair, and one for the first of a group with each of its others",
        "content": {"text/csv": {"schema": {"type": "string"}, "example": "share,weight,minutes apart,student 1\r\n"}},
    }
}


@router.get(
    "/problems/{slug}/similarity",
    summary="Students whose submissions are identical or similar; each request is recorded in the audit log",
    responses=problem_responses(409),
)
async def get_similarity(
    slug: str,
    user: Grader,
    course: CourseForSimilarity,
    similarity: Provided[Similarity],
    attempts: Attempts = "best",
) -> SimilarityJSON:
    return SimilarityJSON.of(await _report(slug, user, similarity, course, attempts))


@router.get(
    "/problems/{slug}/similarity.csv",
    summary="The same as a file for a spreadsheet; each request is recorded in the audit log",
    response_class=Response,
    responses=_CSV | problem_responses(409),
)
async def get_similarity_csv(
    slug: str,
    user: Grader,
    course: CourseForSimilarity,
    similarity: Provided[Similarity],
    attempts: Attempts = "best",
) -> Response:
    return report_download(slug, await _report(slug, user, similarity, course, attempts))


async def _report(
    slug: str, user: User, similarity: Similarity, course: Course | None, attempts: Choice
) -> SimilarityReport:
    return await similarity.report(user, slug, course.id if course else None, Narrowing(attempts=attempts))
