"""The dates of sections: a form on the page of an assignment, and the same over REST."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from app.accounts.web import Instructor
from app.core.rest.actions import Actions
from app.core.rest.body import RequestBody
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.view import View
from app.teaching.courses.assignment_pages import AssignmentPage
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.due_dates import LocalTime, from_local
from app.teaching.courses.section_dates import Dates, SectionDates
from app.teaching.courses.service import Course, Courses

_PATH = "/courses/{course_id}/assignments/{assignment_id}/sections"
actions = Actions("courses", AssignmentPage)
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
    opens: LocalTime
    due: LocalTime


class NewSectionDatesJSON(RequestBody):
    """All sections with other dates than the assignment's."""

    sections: list[NewSectionDateJSON] = Field(max_length=_MOST_SECTIONS)


class SectionForm(RequestBody):
    """One section. `step` is `take` if the dates of the assignment hold for it again."""

    section: str = ""
    opens: LocalTime = ""
    due: LocalTime = ""
    step: Literal["give", "take"] = "give"


@actions.api.get(_PATH, summary="The dates of sections at an assignment, for instructors")
async def list_section_dates(
    course: TaughtCourse, assignment_id: str, courses: Provided[Courses], dates: Provided[SectionDates]
) -> SectionDateList:
    found = await dates.of(await courses.assignment(course, assignment_id))
    return SectionDateList(sections=[SectionDateJSON.of(each) for each in found])


@actions.api.put(
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


@actions.form(_PATH, then="/courses/{course_id}/assignments/{assignment_id}/edit#sections")
async def change_section_dates(
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    body: SectionForm,
    courses: Provided[Courses],
    dates: Provided[SectionDates],
) -> None:
    assignment = await courses.assignment(course, assignment_id)
    new = None if body.step == "take" else _dates(course, body.opens, body.due)
    await dates.change(user, course, assignment, {body.section: new})


def _dates(course: Course, opens: str, due: str) -> Dates:
    """Raises `FieldInvalid` and `AssignmentInvalid`."""
    zone = course.time_zone
    return from_local("opens", opens, zone, is_due=False), from_local("due", due, zone, is_due=True)
