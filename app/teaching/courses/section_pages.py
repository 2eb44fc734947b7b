"""The dates of sections: a form on the page of an assignment, and the same over REST."""

from datetime import datetime

from fastapi import Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response

from app.accounts.web import Instructor
from app.core.errors import Refused
from app.core.rest.actions import PageOf
from app.core.rest.body import RequestBody
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import PageRouter, RestRouter
from app.core.services import Provided
from app.core.view import View
from app.core.web.forms import read_form
from app.teaching.courses.assignment_pages import AssignmentPage
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.due_dates import LOCAL_PATTERN, from_local
from app.teaching.courses.section_dates import Dates, SectionDates
from app.teaching.courses.service import Course, Courses

_PATH = "/courses/{course_id}/assignments/{assignment_id}/sections"
router = PageRouter()
api = RestRouter("courses")
_MOST_SECTIONS = 100


class SectionDateJSON(View):
    section: str
    opens_at: datetime
    due_at: datetime


class SectionDateList(View):
    """By section."""

    sections: list[SectionDateJSON]


class NewSectionDateJSON(RequestBody):
    """`opens` and `due` are in the time zone of the course, and `section` is one of its roster."""

    section: str = Field(min_length=1, max_length=200)
    opens: str = Field(json_schema_extra={"pattern": LOCAL_PATTERN})
    due: str = Field(json_schema_extra={"pattern": LOCAL_PATTERN})


class NewSectionDatesJSON(RequestBody):
    """All sections with other dates than the assignment's."""

    sections: list[NewSectionDateJSON] = Field(max_length=_MOST_SECTIONS)


@api.get(_PATH, summary="The dates of sections at an assignment, for instructors")
async def list_section_dates(
    course: TaughtCourse, assignment_id: str, courses: Provided[Courses], dates: Provided[SectionDates]
) -> SectionDateList:
    found = await dates.of(await courses.assignment(course, assignment_id))
    return SectionDateList(sections=[SectionDateJSON.of(each) for each in found])


@api.put(
    _PATH,
    status_code=204,
    summary="Replace the dates of all sections at an assignment, as an instructor",
    responses=problem_responses(409),
)
async def replace_section_dates(
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    body: NewSectionDatesJSON,
    courses: Provided[Courses],
    dates: Provided[SectionDates],
) -> None:
    assignment = await courses.assignment(course, assignment_id)
    changes: dict[str, Dates | None] = {each.section: None for each in await dates.of(assignment)}
    changes |= {each.section: _dates(course, each.opens, each.due) for each in body.sections}
    await dates.change(user, course, assignment, changes)


@router.post(_PATH)
async def change_section_dates(
    request: Request,
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    courses: Provided[Courses],
    dates: Provided[SectionDates],
    page: PageOf[AssignmentPage],
) -> Response:
    """One section. `step` is `take` if the dates of the assignment hold for it again."""
    form = await read_form(request)
    assignment = await courses.assignment(course, assignment_id)
    try:
        is_back = form.get("step") == "take"
        new = None if is_back else _dates(course, form.get("section_opens", ""), form.get("section_due", ""))
        await dates.change(user, course, assignment, {form.get("section", ""): new})
    except Refused as refusal:
        return await page.show(user, course, assignment, refusal=refusal, section=form)
    return RedirectResponse(f"/courses/{course.id}/assignments/{assignment.id}/edit#sections", status_code=303)


def _dates(course: Course, opens: str, due: str) -> Dates:
    """Raises `FieldInvalid` and `AssignmentInvalid`."""
    zone = course.time_zone
    return from_local("opens", opens, zone, is_due=False), from_local("due", due, zone, is_due=True)
