"""The pages of courses: the list, one course with its assignments, and its gradebook."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import require_role, require_scope
from app.clock import now
from app.courses.csv_safe import csv_of
from app.courses.due import from_local, time_zones, to_local
from app.courses.gradebook import columns_of, gradebook
from app.courses.service import AssignedProblem, Course, manages
from app.courses.services import CourseServices
from app.errors import FieldInvalid, Refused
from app.services import services_of
from app.web.forms import read_form
from app.web.templating import render_page

router = APIRouter(prefix="/courses", include_in_schema=False)
Reader = Annotated[User, Depends(require_scope("read"))]
Submitter = Annotated[User, Depends(require_scope("submit"))]
Instructor = Annotated[User, Depends(require_role("instructor"))]
# `Courses.graded` says for which course.
Grader = Annotated[User, Depends(require_scope("instruct"))]
_PAGE = 50


@router.get("")
async def list_courses(request: Request, user: Reader) -> HTMLResponse:
    return await _list_page(request, user)


@router.post("")
async def create_course(request: Request, user: Instructor) -> Response:
    form = await read_form(request)
    try:
        course = await _services(request).courses.create(form.get("name", ""), form.get("time_zone", ""))
    except Refused as refusal:
        return await _list_page(request, user, refusal, form)
    return _go(course)


@router.post("/join")
async def join_course(request: Request, user: Submitter) -> Response:
    form = await read_form(request)
    try:
        course = await _services(request).courses.join(user, form.get("code", ""))
    except Refused as refusal:
        return await _list_page(request, user, refusal, form)
    return _go(course)


@router.get("/{course_id}")
async def show_course(request: Request, course_id: str, user: Reader) -> HTMLResponse:
    return await _course_page(request, user, course_id)


@router.post("/{course_id}/assignments")
async def assign(request: Request, course_id: str, user: Instructor) -> Response:
    services = _services(request)
    form = await read_form(request, max_bytes=16 * 1024)
    course = await services.courses.get(user, course_id)
    try:
        late = form.get("late_percent", "").strip()
        if late and not (late.isascii() and late.isdecimal() and len(late) <= 3):
            raise FieldInvalid("late_percent: give 1 to 100 percent per day, or nothing.")
        await services.courses.assign(
            course,
            form.get("name", ""),
            from_local("opens", form.get("opens", ""), course.time_zone, is_due=False),
            from_local("due", form.get("due", ""), course.time_zone, is_due=True),
            int(late) if late else None,
            _problems(form.get("problems", "")),
        )
    except Refused as refusal:
        return await _course_page(request, user, course_id, refusal, form)
    return _go(course)


@router.post("/{course_id}/assignments/{assignment_id}/withdraw")
async def withdraw(request: Request, course_id: str, assignment_id: str, user: Instructor) -> Response:
    await read_form(request)
    courses = _services(request).courses
    course = await courses.get(user, course_id)
    await courses.withdraw(course, assignment_id)
    return _go(course)


@router.post("/{course_id}/people/{person_id}/remove")
async def remove_person(request: Request, course_id: str, person_id: str, user: Instructor) -> Response:
    await read_form(request)
    courses = _services(request).courses
    course = await courses.get(user, course_id)
    await courses.remove(course, person_id)
    return _go(course)


@router.post("/{course_id}/people/{person_id}/role")
async def set_role(request: Request, course_id: str, person_id: str, user: Instructor) -> Response:
    form = await read_form(request)
    courses = _services(request).courses
    course = await courses.get(user, course_id)
    await courses.set_role(course, person_id, "assistant" if form.get("role") == "assistant" else "student")
    return _go(course)


@router.get("/{course_id}/gradebook")
async def show_gradebook(
    request: Request, course_id: str, user: Grader, after: Annotated[str | None, Query(max_length=200)] = None
) -> HTMLResponse:
    services = _services(request)
    course = await services.courses.graded(user, course_id)
    columns = columns_of(await services.courses.assignments(course))
    lines = await gradebook(services.database, course, columns, _PAGE + 1, after)
    page, more = lines[:_PAGE], len(lines) > _PAGE
    return render_page(
        "gradebook.html",
        user=user,
        manages=manages(user),
        course=course,
        columns=columns,
        titles=_titles(request),
        lines=page,
        first=f"/courses/{course.id}/gradebook" if after else None,
        further=page[-1].name if more else None,
    )


@router.get("/{course_id}/gradebook.csv")
async def download_gradebook(request: Request, course_id: str, user: Grader) -> Response:
    services = _services(request)
    course = await services.courses.graded(user, course_id)
    columns = columns_of(await services.courses.assignments(course))
    lines = await gradebook(services.database, course, columns)
    head = ["name", *(f"{each.assignment.name}: {each.problem} ({each.points})" for each in columns), "total"]
    text = csv_of([head, *([each.name, *(cell.points for cell in each.cells), each.total] for each in lines)])
    headers = {"Content-Disposition": 'attachment; filename="gradebook.csv"', "Cache-Control": "no-store"}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def _problems(text: str) -> list[AssignedProblem]:
    """A problem on each line, by its slug, and its points, or 100."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words:
            continue
        points = words[1] if len(words) > 1 else "100"
        if len(words) > 2 or not (points.isascii() and points.isdecimal() and len(points) <= 4):
            raise FieldInvalid(f"problems: line {number} must be a problem and its points, such as 'fsdp_step 100'.")
        found.append(AssignedProblem(words[0], int(points)))
    return found


async def _list_page(
    request: Request, user: User, refusal: Refused | None = None, form: dict[str, str] | None = None
) -> HTMLResponse:
    return render_page(
        "courses.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        courses=await _services(request).courses.visible_to(user),
        manages=manages(user),
        zones=time_zones(),
        refusal=refusal,
        form=form or {},
    )


async def _course_page(
    request: Request, user: User, course_id: str, refusal: Refused | None = None, form: dict[str, str] | None = None
) -> HTMLResponse:
    services = _services(request)
    course = await services.courses.get(user, course_id)
    is_manager = manages(user)
    moment = now()
    assignments = [each for each in await services.courses.assignments(course) if is_manager or each.opens_at <= moment]
    columns = columns_of(assignments)
    mine = await gradebook(services.database, course, columns, only=user.id)
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
        reads_gradebook=is_manager or await services.courses.assists(user, course_id),
        assignments=assignments,
        now=moment,
        local=lambda each: f"{to_local(each, course.time_zone):%a %-d %b %Y, %H:%M}",
        own=own,
        titles=_titles(request),
        members=await services.courses.members(course) if is_manager else [],
        refusal=refusal,
        form=form or {},
    )


def _services(request: Request) -> CourseServices:
    return services_of(request, CourseServices)


def _titles(request: Request) -> dict[str, str]:
    return {each.slug: each.manifest.title for each in _services(request).catalogue.all()}


def _go(course: Course) -> Response:
    return RedirectResponse(f"/courses/{course.id}", status_code=303)
