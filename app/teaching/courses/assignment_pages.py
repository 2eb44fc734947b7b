"""What instructors do to assignments, with forms and over REST: create, change and withdraw them."""

from dataclasses import dataclass

from starlette.responses import HTMLResponse, Response

from app.accounts.web import Instructor
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.teaching.courses.assignments import AssignmentChanges
from app.teaching.courses.categories import Categories
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.course_pages import CoursePages, local_of
from app.teaching.courses.course_problems import CourseProblems
from app.teaching.courses.due_dates import written_local
from app.teaching.courses.form_lines import line_of_place
from app.teaching.courses.problem_rows import MAX_FIELDS, about_problems, rows_of, take_rows
from app.teaching.courses.schemas import (
    AssignmentJSON,
    ChangedAssignmentJSON,
    NewAssignmentJSON,
    StaffAssignmentJSON,
    WithdrawalForm,
)
from app.teaching.courses.section_dates import SectionDates
from app.teaching.courses.service import Assignment, Course, Courses


@dataclass(frozen=True)
class NewAssignmentPage(FormPage):
    """The page of a course, which has the form for a new assignment."""

    course: TaughtCourse
    user: Instructor
    pages: Provided[CoursePages]
    catalogue: Provided[Catalogue]
    path = "/courses/{course.id}"

    async def fill(self, action: str, typed: Typed) -> Response | None:
        if take_rows(self.catalogue, typed):
            return await self.pages.show(self.user, self.course, typed)
        return None

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.pages.show(self.user, self.course, typed, refusal)


@dataclass(frozen=True)
class AssignmentPage(FormPage):
    """The page on which an assignment is changed, and the dates of its sections."""

    course: TaughtCourse
    assignment_id: str
    user: Instructor
    courses: Provided[Courses]
    catalogue: Provided[Catalogue]
    categories: Provided[Categories]
    dates: Provided[SectionDates]
    path = "/courses/{course.id}"

    async def fill(self, action: str, typed: Typed) -> Response | None:
        if action == "change_assignment" and take_rows(self.catalogue, typed):
            return await self.show(typed)
        return None

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        if action == "change_section_dates":
            return await self.show(refusal=refusal, section=typed)
        return await self.show(typed, refusal)

    async def show(
        self,
        form: dict[str, str] | None = None,
        refusal: Refused | None = None,
        section: dict[str, str] | None = None,
    ) -> HTMLResponse:
        """`form` and `section`, the form for the dates of a section, are what was typed into one that was refused."""
        assignment = await self.courses.assignment(self.course, self.assignment_id)
        form = _as_form(self.course, assignment) if form is None else form
        return render_page(
            "teaching/courses/assignment_edit.html",
            user=self.user,
            course=self.course,
            assignment=assignment,
            form=form,
            rows=rows_of(form.get("problems", ""), self.catalogue),
            about=about_problems(self.catalogue),
            refusal=refusal,
            titles=self.catalogue.titles(),
            categories=await self.categories.of(self.course),
            section=section or {},
            sections=await self.dates.sections(self.course),
            section_dates=await self.dates.of(assignment),
            local=local_of(self.course),
        )


actions = Actions("courses", AssignmentPage, "/courses/{course_id}/assignments")
_REFUSALS = problem_responses(409)


@actions.post(
    "",
    page=NewAssignmentPage,
    max_fields=MAX_FIELDS,
    status_code=201,
    summary="Create an assignment, as an instructor",
    responses=_REFUSALS,
)
async def create_assignment(
    course: TaughtCourse,
    user: Instructor,
    body: NewAssignmentJSON,
    assignments: Provided[AssignmentChanges],
    problems: Provided[CourseProblems],
) -> StaffAssignmentJSON:
    return await _for_staff(await assignments.create(user, course, body.terms(course)), problems)


@actions.pages.get("/{assignment_id}/edit")
async def edit(page: PageOf[AssignmentPage]) -> HTMLResponse:
    return await page.show()


@actions.put(
    "/{assignment_id}",
    form="/{assignment_id}/edit",
    max_fields=MAX_FIELDS,
    summary="Replace all fields of an assignment, as an instructor",
    responses=_REFUSALS,
)
async def change_assignment(
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    body: ChangedAssignmentJSON,
    courses: Provided[Courses],
    assignments: Provided[AssignmentChanges],
    problems: Provided[CourseProblems],
) -> StaffAssignmentJSON:
    before = await courses.assignment(course, assignment_id)
    after = await assignments.change(user, course, before, body.terms(course, before), body.reason)
    return await _for_staff(after, problems)


@actions.api.delete("/{assignment_id}", status_code=204, summary="Withdraw an assignment, as an instructor")
async def withdraw_assignment(
    course: TaughtCourse, assignment_id: str, user: Instructor, assignments: Provided[AssignmentChanges]
) -> None:
    await assignments.withdraw(user, course, assignment_id)


@actions.form("/{assignment_id}/withdraw")
async def withdraw(
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    body: WithdrawalForm,
    courses: Provided[Courses],
    assignments: Provided[AssignmentChanges],
    pages: Provided[CoursePages],
) -> Response:
    """The page has a form that creates it again, so there is no redirect."""
    assignment = await courses.assignment(course, assignment_id)
    await assignments.withdraw(user, course, assignment_id, body.reason)
    return await pages.show(user, course, {}, withdrawn=_as_form(course, assignment))


async def _for_staff(assignment: Assignment, problems: CourseProblems) -> StaffAssignmentJSON:
    slugs = [each.problem for each in assignment.problems] if assignment.is_exam else []
    warnings = await problems.warnings(slugs)
    return StaffAssignmentJSON(**dict(AssignmentJSON.of(assignment)), warnings=warnings)


def _as_form(course: Course, assignment: Assignment) -> dict[str, str]:
    """The fields of the form that would create it."""
    return {
        "name": assignment.name,
        "opens": written_local(assignment.opens_at, course.time_zone),
        "due": written_local(assignment.due_at, course.time_zone),
        "late_percent": str(assignment.late_percent or ""),
        "attempt_limit": str(assignment.attempt_limit or ""),
        "cool_down_minutes": str(assignment.cool_down_minutes or ""),
        **({"exam": "on"} if assignment.is_exam else {}),
        "closes": "",
        **{f"closes-{each}": "on" for each in assignment.closes},
        "closed_for": assignment.closed_for,
        "duration_minutes": str(assignment.duration_minutes or ""),
        "addresses": "\n".join(assignment.addresses),
        "counted": assignment.counted,
        "grace_minutes": str(assignment.grace_minutes or ""),
        "weight": "" if assignment.weight is None else str(assignment.weight),
        "category": assignment.category or "",
        "problems": "\n".join(line_of_place(place) for place in assignment.places),
    }
