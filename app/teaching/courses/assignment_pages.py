"""The forms with which instructors create, change and withdraw assignments."""

from datetime import datetime

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Instructor
from app.core.errors import FieldInvalid, Refused
from app.core.services import Provided, services_of
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.teaching.courses.assignments import LONGEST_COOL_DOWN, MOST_ATTEMPTS, AssignmentChanges, Terms
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.course_pages import CoursePage, titles_of
from app.teaching.courses.due_dates import from_local, to_local
from app.teaching.courses.extensions import MOST_EXTRA_ATTEMPTS, MOST_EXTRA_MINUTES, Extensions
from app.teaching.courses.service import AssignedProblem, Assignment, Course, Courses

router = APIRouter(prefix="/courses/{course_id}/assignments", include_in_schema=False)
_LARGEST_FORM = 16 * 1024


@router.post("")
async def assign(
    request: Request, course: TaughtCourse, user: Instructor, assignments: Provided[AssignmentChanges]
) -> Response:
    form = await read_form(request, max_bytes=_LARGEST_FORM)
    try:
        if _adds(form):
            return await CoursePage(request, course, user).show(_with_problem(request, form))
        await assignments.create(course, _terms(form, course))
    except Refused as refusal:
        return await CoursePage(request, course, user).show(form, refusal)
    return _go_to(course)


@router.get("/{assignment_id}/edit")
async def edit(
    request: Request, course: TaughtCourse, assignment_id: str, user: Instructor, courses: Provided[Courses]
) -> HTMLResponse:
    assignment = await courses.assignment(course, assignment_id)
    return await _edit_page(request, user, course, assignment, _as_form(course, assignment))


@router.post("/{assignment_id}/edit")
async def change(
    request: Request,
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    courses: Provided[Courses],
    assignments: Provided[AssignmentChanges],
) -> Response:
    form = await read_form(request, max_bytes=_LARGEST_FORM)
    assignment = await courses.assignment(course, assignment_id)
    try:
        if _adds(form):
            return await _edit_page(request, user, course, assignment, _with_problem(request, form))
        terms = _terms(form, course, assignment)
        await assignments.change(user, course, assignment, terms, form.get("reason", ""))
    except Refused as refusal:
        return await _edit_page(request, user, course, assignment, form, refusal)
    return _go_to(course)


@router.post("/{assignment_id}/withdraw")
async def withdraw(
    request: Request,
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    courses: Provided[Courses],
    assignments: Provided[AssignmentChanges],
) -> Response:
    """The page has a form that creates it again, so there is no redirect."""
    form = await read_form(request)
    assignment = await courses.assignment(course, assignment_id)
    await assignments.withdraw(user, course, assignment_id, form.get("reason", ""))
    return await CoursePage(request, course, user).show({}, withdrawn=_as_form(course, assignment))


@router.post("/{assignment_id}/extend")
async def extend(
    request: Request,
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    courses: Provided[Courses],
    extensions: Provided[Extensions],
) -> Response:
    """More time or attempts for one student, who is chosen by name."""
    form = await read_form(request)
    assignment = await courses.assignment(course, assignment_id)
    try:
        minutes = _number(form, "extra_minutes", f"0 to {MOST_EXTRA_MINUTES} minutes") or 0
        attempts = _number(form, "extra_attempts", f"0 to {MOST_EXTRA_ATTEMPTS} attempts") or 0
        await extensions.extend(
            user, course, assignment, form.get("person", ""), minutes, attempts, form.get("reason", "")
        )
    except Refused as refusal:
        return await _edit_page(request, user, course, assignment, _as_form(course, assignment), refusal, form)
    return RedirectResponse(f"/courses/{course.id}/assignments/{assignment.id}/edit#extra", status_code=303)


def _go_to(course: Course) -> Response:
    return RedirectResponse(f"/courses/{course.id}", status_code=303)


async def _edit_page(
    request: Request,
    user: User,
    course: Course,
    assignment: Assignment,
    form: dict[str, str],
    refusal: Refused | None = None,
    extension: dict[str, str] | None = None,
) -> HTMLResponse:
    services = services_of(request)
    members = await services[Courses].members(course)
    return render_page(
        "assignment_edit.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        course=course,
        assignment=assignment,
        form=form,
        refusal=refusal,
        extension=extension or {},
        extensions=await services[Extensions].of(assignment),
        students=[each for each in members if each.role == "student"],
        titles=titles_of(request),
    )


def _adds(form: dict[str, str]) -> bool:
    """Whether the form was sent to add a problem to those in it. An empty choice is none: Enter presses this button."""
    return form.get("step") == "add" and bool(form.get("add", "").strip())


def _with_problem(request: Request, form: dict[str, str]) -> dict[str, str]:
    """The form with the chosen problem as another line. Raises `FieldInvalid`."""
    found = services_of(request)[Catalogue].find(form["add"])
    if found is None:
        raise FieldInvalid(
            f"add: no problem, or more than one, matches {form['add'][:100]!r}. Choose one from the list."
        )
    return form | {"problems": f"{form.get('problems', '').rstrip()}\n{found.slug} 100".lstrip(), "add": ""}


def _terms(form: dict[str, str], course: Course, before: Assignment | None = None) -> Terms:
    """Raises `FieldInvalid` and `AssignmentInvalid`."""
    shown = _as_form(course, before) if before else {}

    def moment(field: str) -> datetime:
        text = form.get(field, "")
        # A local time that occurs twice names two moments. One that was not touched stays the moment that it was.
        if before is not None and text == shown[field]:
            return before.opens_at if field == "opens" else before.due_at
        return from_local(field, text, course.time_zone, is_due=field == "due")

    return Terms(
        name=form.get("name", ""),
        opens_at=moment("opens"),
        due_at=moment("due"),
        late_percent=_number(form, "late_percent", "1 to 100 percent per day"),
        problems=_problems(form.get("problems", "")),
        attempt_limit=_number(form, "attempt_limit", f"1 to {MOST_ATTEMPTS} attempts"),
        cool_down_minutes=_number(form, "cool_down_minutes", f"1 to {LONGEST_COOL_DOWN} minutes"),
        is_exam="is_exam" in form,
    )


def _as_form(course: Course, assignment: Assignment) -> dict[str, str]:
    """The fields of the form that would create it."""
    opens, due = (to_local(each, course.time_zone) for each in (assignment.opens_at, assignment.due_at))
    return {
        "name": assignment.name,
        "opens": f"{opens:%Y-%m-%dT%H:%M}",
        "due": f"{due:%Y-%m-%dT%H:%M}",
        "late_percent": str(assignment.late_percent or ""),
        "attempt_limit": str(assignment.attempt_limit or ""),
        "cool_down_minutes": str(assignment.cool_down_minutes or ""),
        **({"is_exam": "on"} if assignment.is_exam else {}),
        "problems": "\n".join(f"{each.problem} {each.points}" for each in assignment.problems),
    }


def _number(form: dict[str, str], field: str, allowed: str) -> int | None:
    """The number in a field that may be empty. Raises `FieldInvalid`."""
    text = form.get(field, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 6):
        raise FieldInvalid(f"{field}: give {allowed}, or nothing.")
    return int(text)


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
