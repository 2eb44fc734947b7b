"""What the audit log says of a course, for its instructors, in a browser and over REST."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from app.accounts.audit.log import ACTION_WORDS, AuditLog
from app.accounts.audit.schemas import AUDIT_SEARCH, AuditPage
from app.accounts.web import Instructor
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor, NewestFirst
from app.core.rest.routing import PageRouter, RestRouter
from app.core.services import Provided
from app.core.web.templating import render_list
from app.teaching.courses.course_in_path import TaughtCourse

_PATH = "/courses/{course_id}/audit"
router = PageRouter()
api = RestRouter("courses")


@router.get(_PATH)
async def show_course_audit(
    course: TaughtCourse,
    user: Instructor,
    audit: Provided[AuditLog],
    q: Annotated[str, Query(max_length=100)] = "",
    before: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    entries = await audit.list(Cursor(SHOWN, before), course_id=course.id, q=q.strip())
    here = f"/courses/{course.id}/audit"
    links = ListLinks(here, entries, before, {"q": q.strip()}, cursor="before")
    return render_list(
        "accounts/audit/audit.html", user=user, course=course, entries=entries, words=ACTION_WORDS, links=links
    )


@api.get(_PATH, summary="What was done in a course, newest first, for its instructors")
async def list_course_audit_entries(
    course: TaughtCourse,
    audit: Provided[AuditLog],
    cursor: NewestFirst,
    q: Annotated[str, Query(max_length=100, description=AUDIT_SEARCH)] = "",
) -> AuditPage:
    entries = await audit.list(cursor, course_id=course.id, q=q.strip())
    return AuditPage(entries=entries, next=entries.next)
