"""REST: announcements of a course, for its members to read and for instructors to write."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.accounts.web import Instructor
from app.courses.announcements import ANNOUNCEMENT_PATTERN, LONGEST_ANNOUNCEMENT, Announcement, Announcements
from app.courses.course_in_path import JoinedCourse, TaughtCourse
from app.rest.routing import rest_router
from app.services import Provided

router = rest_router("courses", "/courses/{course_id}/announcements")
_TEXT = "The exam begins at 9:00.\nBring your student card."
_ANNOUNCEMENT: dict[str, Any] = {
    "id": "3c5e7a9b1d0f2c4e6a8b0d1f3e5c7a9b",
    "text": _TEXT,
    "author": "tess",
    "at": "2026-01-12T08:00:00.000000Z",
}


class NewAnnouncementJSON(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [{"text": _TEXT}]})

    # Only described here. app/courses/announcements.py enforces it.
    text: str = Field(
        json_schema_extra={"minLength": 1, "maxLength": LONGEST_ANNOUNCEMENT, "pattern": ANNOUNCEMENT_PATTERN}
    )


class AnnouncementJSON(BaseModel):
    """Plain text. `author` is null once the account is deleted."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_ANNOUNCEMENT]})

    id: str
    text: str
    author: str | None
    at: datetime

    @classmethod
    def of(cls, announcement: Announcement) -> "AnnouncementJSON":
        return cls(id=announcement.id, text=announcement.text, author=announcement.author, at=announcement.at)


class AnnouncementList(BaseModel):
    """The latest, newest first."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"announcements": [_ANNOUNCEMENT]}]})

    announcements: list[AnnouncementJSON]


@router.get("", summary="What instructors announced to a course of yours")
async def list_announcements(course: JoinedCourse, announcements: Provided[Announcements]) -> AnnouncementList:
    found = await announcements.of(course)
    return AnnouncementList(announcements=[AnnouncementJSON.of(each) for each in found])


@router.post("", status_code=201, summary="Announce something to a course, as an instructor")
async def announce(
    course: TaughtCourse, user: Instructor, body: NewAnnouncementJSON, announcements: Provided[Announcements]
) -> AnnouncementJSON:
    return AnnouncementJSON.of(await announcements.announce(user, course, body.text))


@router.delete("/{announcement_id}", status_code=204, summary="Remove an announcement, as an instructor")
async def remove_announcement(
    course: TaughtCourse, announcement_id: str, user: Instructor, announcements: Provided[Announcements]
) -> None:
    await announcements.remove(user, course, announcement_id)
