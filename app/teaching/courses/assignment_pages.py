"""The forms with which instructors create, change and withdraw assignments."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from fastapi import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Instructor
from app.core.errors import FieldInvalid, Refused
from app.core.rest.actions import PageOf
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.problems.exams import PARTS
from app.teaching.courses.assignment_form import number_in
from app.teaching.courses.assignments import (
    LONGEST_COOL_DOWN,
    LONGEST_GRACE,
    MOST_ATTEMPTS,
    AssignmentChanges,
    Terms,
    written_place,
)
from app.teaching.courses.categories import MOST_WEIGHT, Categories
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.course_pages import CoursePages, local_of
from app.teaching.courses.due_dates import from_local, to_local
from app.teaching.courses.exam_access import LONGEST_DURATION, read_networks, split_networks
from app.teaching.courses.grade_arithmetic import Rule
from app.teaching.courses.section_dates import SectionDates
from app.teaching.courses.service import AssignedProblem, Assignment, Course, Courses

router = PageRouter("/courses/{course_id}/assignments")
_LARGEST_FORM = 16 * 1024


@dataclass(frozen=True, slots=True)
class AssignmentPage:
    """The page on which an assignment is changed."""

    catalogue: Provided[Catalogue]
    categories: Provided[Categories]
    dates: Provided[SectionDates]

    async def show(
        self,
        user: User,
        course: Course,
        assignment: Assignment,
        form: dict[str, str] | None = None,
        refusal: Refused | None = None,
        section: dict[str, str] | None = None,
    ) -> HTMLResponse:
        """`form` and `section`, the form for the dates of a section, are what was typed into one that was refused."""
        return render_page(
            "assignment_edit.html",
            status_code=refusal.status if refusal else 200,
            user=user,
            course=course,
            assignment=assignment,
            form=_as_form(course, assignment) if form is None else form,
            refusal=refusal,
            titles=self.catalogue.titles(),
            categories=await self.categories.of(course),
            section=section or {},
            sections=await self.dates.sections(course),
            section_dates=await self.dates.of(assignment),
            local=local_of(course),
        )


@router.post("")
async def assign(
    request: Request,
    course: TaughtCourse,
    user: Instructor,
    assignments: Provided[AssignmentChanges],
    catalogue: Provided[Catalogue],
    pages: Provided[CoursePages],
) -> Response:
    form = await read_form(request, max_bytes=_LARGEST_FORM)
    try:
        if _adds(form):
            return await pages.show(user, course, _with_problem(catalogue, form))
        await assignments.create(user, course, _terms(form, course))
    except Refused as refusal:
        return await pages.show(user, course, form, refusal)
    return _go_to(course)


@router.get("/{assignment_id}/edit")
async def edit(
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    courses: Provided[Courses],
    page: PageOf[AssignmentPage],
) -> HTMLResponse:
    assignment = await courses.assignment(course, assignment_id)
    return await page.show(user, course, assignment)


@router.post("/{assignment_id}/edit")
async def change(
    request: Request,
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    courses: Provided[Courses],
    assignments: Provided[AssignmentChanges],
    catalogue: Provided[Catalogue],
    page: PageOf[AssignmentPage],
) -> Response:
    form = await read_form(request, max_bytes=_LARGEST_FORM)
    assignment = await courses.assignment(course, assignment_id)
    try:
        if _adds(form):
            return await page.show(user, course, assignment, _with_problem(catalogue, form))
        terms = _terms(form, course, assignment)
        await assignments.change(user, course, assignment, terms, form.get("reason", ""))
    except Refused as refusal:
        return await page.show(user, course, assignment, form, refusal)
    return _go_to(course)


@router.post("/{assignment_id}/withdraw")
async def withdraw(
    request: Request,
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    courses: Provided[Courses],
    assignments: Provided[AssignmentChanges],
    pages: Provided[CoursePages],
) -> Response:
    """The page has a form that creates it again, so there is no redirect."""
    form = await read_form(request)
    assignment = await courses.assignment(course, assignment_id)
    await assignments.withdraw(user, course, assignment_id, form.get("reason", ""))
    return await pages.show(user, course, {}, withdrawn=_as_form(course, assignment))


def _go_to(course: Course) -> Response:
    return RedirectResponse(f"/courses/{course.id}", status_code=303)


def _adds(form: dict[str, str]) -> bool:
    """Whether the form was sent to add a problem to those in it. An empty choice is none: Enter presses this button."""
    return form.get("step") == "add" and bool(form.get("add", "").strip())


def _with_problem(catalogue: Catalogue, form: dict[str, str]) -> dict[str, str]:
    """The form with the chosen problem as another line. Raises `FieldInvalid`."""
    found = catalogue.find(form["add"])
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
        late_percent=number_in(form, "late_percent", "1 to 100 percent per day"),
        problems=_problems(form.get("problems", "")),
        attempt_limit=number_in(form, "attempt_limit", f"1 to {MOST_ATTEMPTS} attempts"),
        cool_down_minutes=number_in(form, "cool_down_minutes", f"1 to {LONGEST_COOL_DOWN} minutes"),
        counted=cast(Rule, form.get("counted") or "best"),
        grace_minutes=number_in(form, "grace_minutes", f"0 to {LONGEST_GRACE} minutes") or 0,
        weight=number_in(form, "weight", f"0 to {MOST_WEIGHT}"),
        category=form.get("category", "").strip() or None,
        **(_exam_terms(form) if "is_exam" in form else {}),
    )


def _exam_terms(form: dict[str, str]) -> dict[str, Any]:
    """The fields that only an exam has."""
    return {
        "is_exam": True,
        "closes": frozenset(each for each in PARTS if f"closes-{each}" in form),
        "closed_for": "everyone" if form.get("closed_for") == "everyone" else "students",
        "duration_minutes": number_in(form, "duration_minutes", f"1 to {LONGEST_DURATION} minutes"),
        "password": "" if "no_password" in form else form.get("password") or None,
        "addresses": read_networks("addresses", split_networks(form.get("addresses", ""))),
    }


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
        **{f"closes-{each}": "on" for each in assignment.closes},
        "closed_for": assignment.closed_for,
        "duration_minutes": str(assignment.duration_minutes or ""),
        "addresses": "\n".join(assignment.addresses),
        "counted": assignment.counted,
        "grace_minutes": str(assignment.grace_minutes or ""),
        "weight": "" if assignment.weight is None else str(assignment.weight),
        "category": assignment.category or "",
        "problems": "\n".join(written_place(place) for place in assignment.places),
    }


def _problems(text: str) -> list[AssignedProblem]:
    """A problem on each line, by its slug, or a pool of them, and the points, or 100."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        *pool, last = (each.split() for each in line.split("|"))
        if not pool and not last:
            continue
        slug, points = (*last, "100")[:2] if last else ("", "")
        is_number = points.isascii() and points.isdecimal() and len(points) <= 4
        is_pool = all(len(each) == 1 for each in pool) and not (pool and slug.isdecimal())
        if len(last) > 2 or not is_number or not is_pool:
            raise FieldInvalid(
                f"problems: line {number} must be a problem and its points, such as 'fsdp_step 100', or a pool of "
                f"problems and their points, such as 'fsdp_step | hsdp_step 100'."
            )
        slugs = [*(each[0] for each in pool), slug]
        found += [AssignedProblem(each, int(points), number if pool else None) for each in slugs]
    return found
