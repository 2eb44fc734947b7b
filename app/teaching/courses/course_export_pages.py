"""A course as a zip file, for its instructors, in a browser and over REST."""

from typing import Any

from starlette.responses import Response, StreamingResponse

from app.accounts.web import Instructor
from app.core.rest.routing import PageRouter, RestRouter
from app.core.services import Provided
from app.teaching.courses.course_export import CourseExports
from app.teaching.courses.course_in_path import TaughtCourse

router = PageRouter()
api = RestRouter("courses")
_ZIP: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Submissions by assignment and student, the gradebook, the roster, and the audit log",
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}, "example": "PK…"}},
    }
}


@router.get("/courses/{course_id}/export.zip")
@api.get(
    "/courses/{course_id}/export",
    summary="Everything about a course as a zip file, for its instructors; the audit log notes it",
    response_class=Response,
    responses=_ZIP,
)
async def export_course(course: TaughtCourse, user: Instructor, exports: Provided[CourseExports]) -> Response:
    await exports.note(user, course)
    headers = {"Content-Disposition": 'attachment; filename="course.zip"', "Cache-Control": "no-store"}
    return StreamingResponse(exports.archive(course), media_type="application/zip", headers=headers)
