"""The page on which a student gets more time or attempts at an assignment: for instructors, and for assistants with the
right `extensions`.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Grader
from app.core.errors import Refused
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor
from app.core.services import Provided, services_of
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.teaching.courses.assignment_form import number_in
from app.teaching.courses.course_in_path import CourseForExtensions
from app.teaching.courses.extensions import MOST_EXTRA_ATTEMPTS, MOST_EXTRA_MINUTES, Extensions
from app.teaching.courses.members import CourseMembers
from app.teaching.courses.service import Assignment, Course, Courses

router = APIRouter(prefix="/courses/{course_id}/assignments/{assignment_id}", include_in_schema=False)


@router.get("/extensions")
async def show_extensions(
    request: Request,
    course: CourseForExtensions,
    assignment_id: str,
    user: Grader,
    courses: Provided[Courses],
    q: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[str | None, Query(max_length=200)] = None,
) -> HTMLResponse:
    assignment = await courses.assignment(course, assignment_id)
    return await _page(request, user, course, assignment, {}, q=q.strip(), after=after)


@router.post("/extend")
async def extend(
    request: Request,
    course: CourseForExtensions,
    assignment_id: str,
    user: Grader,
    courses: Provided[Courses],
    extensions: Provided[Extensions],
) -> Response:
    """More time or attempts for one student, who is chosen by name."""
    form = await read_form(request)
    assignment = await courses.assignment(course, assignment_id)
    try:
        minutes = number_in(form, "extra_minutes", f"0 to {MOST_EXTRA_MINUTES} minutes") or 0
        attempts = number_in(form, "extra_attempts", f"0 to {MOST_EXTRA_ATTEMPTS} attempts") or 0
        await extensions.extend(
            user, course, assignment, form.get("person", ""), minutes, attempts, form.get("reason", "")
        )
    except Refused as refusal:
        return await _page(request, user, course, assignment, form, refusal)
    return RedirectResponse(f"/courses/{course.id}/assignments/{assignment.id}/extensions", status_code=303)


async def _page(
    request: Request,
    user: User,
    course: Course,
    assignment: Assignment,
    form: dict[str, str],
    refusal: Refused | None = None,
    q: str = "",
    after: str | None = None,
) -> HTMLResponse:
    services = services_of(request)
    extensions = await services[Extensions].of(course, assignment, Cursor(SHOWN, after), q)
    here = f"/courses/{course.id}/assignments/{assignment.id}/extensions"
    return render_page(
        "extensions.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        course=course,
        assignment=assignment,
        form=form,
        refusal=refusal,
        extensions=extensions,
        links=ListLinks(here, extensions, after, {"q": q}),
        students=[each for each in await services[CourseMembers].of(course) if each.role == "student"],
    )
