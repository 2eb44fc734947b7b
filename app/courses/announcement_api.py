"""REST: announcements of a course, for its members to read and for instructors to write."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from app.accounts.caller import User
from app.accounts.web import require_role, require_scope
from app.courses.announcements import ANNOUNCEMENT_PATTERN, LONGEST_ANNOUNCEMENT, Announcement
from app.courses.services import CourseServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["courses"], prefix="/courses/{course_id}/announcements")
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


@router.get("", summary="What instructors announced to a course of yours", responses=problem_responses(401, 403, 404))
async def list_announcements(request: Request, course_id: str, user: Reader) -> AnnouncementList:
    services = services_of(request, CourseServices)
    found = await services.announcements.of(await services.courses.get(user, course_id))
    return AnnouncementList(announcements=[AnnouncementJSON.of(each) for each in found])


@router.post(
    "",
    status_code=201,
    summary="Announce something to a course, as an instructor",
    responses=problem_responses(400, 401, 403, 404, 413, 415, 422),
    openapi_extra=body_of(NewAnnouncementJSON),
)
async def announce(request: Request, course_id: str, user: Instructor) -> AnnouncementJSON:
    services = services_of(request, CourseServices)
    body = await read_json(request, NewAnnouncementJSON)
    course = await services.courses.get(user, course_id)
    return AnnouncementJSON.of(await services.announcements.announce(user, course, body.text))


@router.delete(
    "/{announcement_id}",
    status_code=204,
    summary="Remove an announcement, as an instructor",
    responses=problem_responses(401, 403, 404),
)
async def remove_announcement(request: Request, course_id: str, announcement_id: str, user: Instructor) -> None:
    services = services_of(request, CourseServices)
    course = await services.courses.get(user, course_id)
    await services.announcements.remove(user, course, announcement_id)
