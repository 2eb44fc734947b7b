"""REST: announcements of a course, for its members to read and for instructors to write."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends
from pydantic import BaseModel, ConfigDict, Field

from app.accounts.caller import User
from app.accounts.web import require_role, require_scope
from app.courses.announcements import ANNOUNCEMENT_PATTERN, LONGEST_ANNOUNCEMENT, Announcement, Announcements
from app.courses.service import Courses
from app.rest.routing import rest_router
from app.services import Provided

router = rest_router("courses", "/courses/{course_id}/announcements")
Reader = Annotated[User, Depends(require_scope("read"))]
Instructor = Annotated[User, Depends(require_role("instructor"))]
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
async def list_announcements(
    course_id: str, user: Reader, announcements: Provided[Announcements], courses: Provided[Courses]
) -> AnnouncementList:
    found = await announcements.of(await courses.get(user, course_id))
    return AnnouncementList(announcements=[AnnouncementJSON.of(each) for each in found])


@router.post("", status_code=201, summary="Announce something to a course, as an instructor")
async def announce(
    course_id: str,
    user: Instructor,
    body: NewAnnouncementJSON,
    courses: Provided[Courses],
    announcements: Provided[Announcements],
) -> AnnouncementJSON:
    course = await courses.get(user, course_id)
    return AnnouncementJSON.of(await announcements.announce(user, course, body.text))


@router.delete("/{announcement_id}", status_code=204, summary="Remove an announcement, as an instructor")
async def remove_announcement(
    course_id: str,
    announcement_id: str,
    user: Instructor,
    courses: Provided[Courses],
    announcements: Provided[Announcements],
) -> None:
    course = await courses.get(user, course_id)
    await announcements.remove(user, course, announcement_id)
