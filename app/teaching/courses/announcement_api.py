"""REST: announcements of a course, for its members to read and for instructors to write."""

from pydantic import Field

from app.accounts.web import Instructor
from app.core.rest.body import RequestBody
from app.core.rest.routing import rest_router
from app.core.services import Provided
from app.core.view import View
from app.teaching.courses.announcements import ANNOUNCEMENT_PATTERN, LONGEST_ANNOUNCEMENT, Announcement, Announcements
from app.teaching.courses.course_in_path import JoinedCourse, TaughtCourse

router = rest_router("courses", "/courses/{course_id}/announcements")


class NewAnnouncementJSON(RequestBody):
    # Only described here. app/teaching/courses/announcements.py enforces it.
    text: str = Field(
        json_schema_extra={"minLength": 1, "maxLength": LONGEST_ANNOUNCEMENT, "pattern": ANNOUNCEMENT_PATTERN}
    )


class AnnouncementList(View):
    """The latest, newest first."""

    announcements: list[Announcement]


@router.get("", summary="The announcements of one of your courses")
async def list_announcements(course: JoinedCourse, announcements: Provided[Announcements]) -> AnnouncementList:
    found = await announcements.of(course)
    return AnnouncementList(announcements=found)


@router.post("", status_code=201, summary="Post an announcement to a course, as an instructor")
async def announce(
    course: TaughtCourse, user: Instructor, body: NewAnnouncementJSON, announcements: Provided[Announcements]
) -> Announcement:
    return await announcements.announce(user, course, body.text)


@router.delete("/{announcement_id}", status_code=204, summary="Remove an announcement, as an instructor")
async def remove_announcement(
    course: TaughtCourse, announcement_id: str, user: Instructor, announcements: Provided[Announcements]
) -> None:
    await announcements.remove(user, course, announcement_id)
