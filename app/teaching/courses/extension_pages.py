"""The page on which a student gets more time or attempts at an assignment: for instructors, and for assistants with the
right `extensions`.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Grader
from app.core.errors import Refused
from app.core.rest.actions import PageOf
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.teaching.courses.assignment_form import number_in
from app.teaching.courses.course_in_path import CourseForExtensions
from app.teaching.courses.extensions import MOST_EXTRA_ATTEMPTS, MOST_EXTRA_MINUTES, Extensions
from app.teaching.courses.members import CourseMembers
from app.teaching.courses.service import Assignment, Course, Courses

router = PageRouter("/courses/{course_id}/assignments/{assignment_id}")


@dataclass(frozen=True, slots=True)
class ExtensionsPage:
    extensions: Provided[Extensions]
    members: Provided[CourseMembers]

    async def show(
        self,
        user: User,
        course: Course,
        assignment: Assignment,
        form: dict[str, str],
        refusal: Refused | None = None,
        q: str = "",
        after: str | None = None,
    ) -> HTMLResponse:
        extensions = await self.extensions.of(course, assignment, Cursor(SHOWN, after), q)
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
            students=[each for each in await self.members.of(course) if each.role == "student"],
        )


@router.get("/extensions")
async def show_extensions(
    course: CourseForExtensions,
    assignment_id: str,
    user: Grader,
    courses: Provided[Courses],
    page: PageOf[ExtensionsPage],
    q: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[str | None, Query(max_length=200)] = None,
) -> HTMLResponse:
    assignment = await courses.assignment(course, assignment_id)
    return await page.show(user, course, assignment, {}, q=q.strip(), after=after)


@router.post("/extend")
async def extend(
    request: Request,
    course: CourseForExtensions,
    assignment_id: str,
    user: Grader,
    courses: Provided[Courses],
    extensions: Provided[Extensions],
    page: PageOf[ExtensionsPage],
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
        return await page.show(user, course, assignment, form, refusal)
    return RedirectResponse(f"/courses/{course.id}/assignments/{assignment.id}/extensions", status_code=303)
