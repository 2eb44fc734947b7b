"""The pages of courses: the list, and one course with its assignments and people."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Instructor, Reader, Submitter
from app.core.clock import now
from app.core.database import Database
from app.core.errors import Refused
from app.core.services import Provided, Services, services_of
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.teaching.courses.announcements import LONGEST_ANNOUNCEMENT, Announcements
from app.teaching.courses.course_in_path import JoinedCourse, TaughtCourse
from app.teaching.courses.due_dates import time_zones, to_local
from app.teaching.courses.extensions import Extensions
from app.teaching.courses.gradebook import columns_of, gradebook
from app.teaching.courses.service import Course, Courses, manages

router = APIRouter(prefix="/courses", include_in_schema=False)


@router.get("")
async def list_courses(
    request: Request, user: Reader, code: Annotated[str, Query(max_length=100)] = ""
) -> HTMLResponse:
    """With the code of a course, the form for joining it is already filled in."""
    return await _list_page(request, user, form={"code": code})


@router.post("")
async def create_course(request: Request, user: Instructor, courses: Provided[Courses]) -> Response:
    form = await read_form(request)
    try:
        course = await courses.create(form.get("name", ""), form.get("time_zone", ""))
    except Refused as refusal:
        return await _list_page(request, user, refusal, form)
    return go_to(course)


@router.post("/join")
async def join_course(request: Request, user: Submitter, courses: Provided[Courses]) -> Response:
    form = await read_form(request)
    try:
        course = await courses.join(user, form.get("code", ""))
    except Refused as refusal:
        return await _list_page(request, user, refusal, form)
    return go_to(course)


@router.get("/{course_id}")
async def show_course(request: Request, course: JoinedCourse, user: Reader) -> HTMLResponse:
    return await course_page(request, user, course)


@router.post("/{course_id}/announcements")
async def announce(
    request: Request, course: TaughtCourse, user: Instructor, announcements: Provided[Announcements]
) -> Response:
    form = await read_form(request, max_bytes=9 * LONGEST_ANNOUNCEMENT)
    try:
        await announcements.announce(user, course, form.get("text", ""))
    except Refused as refusal:
        return await course_page(request, user, course, refusal, form)
    return go_to(course)


@router.post("/{course_id}/announcements/{announcement_id}/remove")
async def remove_announcement(
    request: Request,
    course: TaughtCourse,
    announcement_id: str,
    user: Instructor,
    announcements: Provided[Announcements],
) -> Response:
    await read_form(request)
    await announcements.remove(user, course, announcement_id)
    return go_to(course)


@router.post("/{course_id}/people/{person_id}/remove")
async def remove_person(request: Request, course: TaughtCourse, person_id: str, courses: Provided[Courses]) -> Response:
    await read_form(request)
    await courses.remove(course, person_id)
    return go_to(course)


@router.post("/{course_id}/people/{person_id}/role")
async def set_role(request: Request, course: TaughtCourse, person_id: str, courses: Provided[Courses]) -> Response:
    form = await read_form(request)
    await courses.set_role(course, person_id, "assistant" if form.get("role") == "assistant" else "student")
    return go_to(course)


async def _list_page(
    request: Request, user: User, refusal: Refused | None = None, form: dict[str, str] | None = None
) -> HTMLResponse:
    return render_page(
        "courses.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        courses=await services_for(request)[Courses].visible_to(user),
        manages=manages(user),
        zones=time_zones(),
        refusal=refusal,
        form=form or {},
        invited=refusal is None and bool(form and form.get("code")),
    )


async def course_page(
    request: Request, user: User, course: Course, refusal: Refused | None = None, form: dict[str, str] | None = None
) -> HTMLResponse:
    """The page of a course that `Courses.get` returned, perhaps with a form that was refused."""
    services = services_for(request)
    is_manager = manages(user)
    moment = now()
    assignments = [
        each for each in await services[Courses].assignments(course) if is_manager or each.opens_at <= moment
    ]
    columns = columns_of(assignments)
    mine = await gradebook(services[Database], course, columns, only=user.id)
    own = {
        (column.assignment.id, column.problem): cell
        for line in mine
        for column, cell in zip(columns, line.cells, strict=True)
    }
    return render_page(
        "course.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        course=course,
        manages=is_manager,
        reads_gradebook=is_manager or await services[Courses].assists(user, course.id),
        assignments=assignments,
        now=moment,
        local=lambda each: f"{to_local(each, course.time_zone):%a %-d %b %Y, %H:%M}",
        own=own,
        extensions=await services[Extensions].of_student(course, user),
        titles=titles_of(request),
        answered={each.slug for each in services[Catalogue].all() if each.manifest.mode == "answer"},
        announcements=await services[Announcements].of(course),
        longest_announcement=LONGEST_ANNOUNCEMENT,
        members=await services[Courses].members(course) if is_manager else [],
        refusal=refusal,
        form=form or {},
    )


def services_for(request: Request) -> Services:
    return services_of(request)


def titles_of(request: Request) -> dict[str, str]:
    return {each.slug: each.manifest.title for each in services_for(request)[Catalogue].all()}


def go_to(course: Course) -> Response:
    return RedirectResponse(f"/courses/{course.id}", status_code=303)
