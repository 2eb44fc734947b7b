"""The page that copies a course to the next term, with a preview of its dates, and the same over REST."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.responses import HTMLResponse, Response

from app.accounts.text_rules import LINE_PATTERN
from app.accounts.web import Instructor
from app.core.errors import Refused
from app.core.rest.actions import Actions, PageOf, TypedPage
from app.core.rest.body import RequestBody
from app.core.services import Provided
from app.core.view import View
from app.core.web.templating import render_page
from app.teaching.courses.course_copies import DATE_PATTERN, CopiedAssignment, CopiedDates, CourseCopies, suggested_day
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.due_dates import to_local, written_local
from app.teaching.courses.schemas import CourseJSON
from app.teaching.courses.service import LONGEST_NAME, Course, Courses


class NewCopyJSON(RequestBody):
    """`opens` is the day on which the first assignment opens, in the time zone of the course."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME, json_schema_extra={"pattern": LINE_PATTERN})
    opens: str = Field(json_schema_extra={"pattern": DATE_PATTERN})


class CopiedDatesJSON(View):
    """The local times of an assignment, or of a section at it, in the copy, and those that it has now."""

    name: str
    opens: str
    due: str
    opens_now: str
    due_now: str


class CopiedAssignmentJSON(CopiedDatesJSON):
    """`sections` have dates of their own, by section."""

    sections: list[CopiedDatesJSON]

    @classmethod
    def of_copy(cls, each: CopiedAssignment, zone: str) -> "CopiedAssignmentJSON":
        sections = [CopiedDatesJSON(**_local(it, zone)) for it in each.sections]
        return cls(**_local(each, zone), sections=sections)


def _local(each: CopiedDates, zone: str) -> dict[str, str]:
    moments = {
        "opens": each.opens_at,
        "due": each.due_at,
        "opens_now": each.opened_at,
        "due_now": each.was_due_at,
    }
    local = {name: written_local(moment, zone) for name, moment in moments.items()}
    return {"name": each.name, **local}


class CopyPreview(View):
    """By deadline."""

    assignments: list[CopiedAssignmentJSON]


@dataclass(frozen=True)
class CourseCopyPage(TypedPage):
    course: TaughtCourse
    user: Instructor
    courses: Provided[Courses]
    path = "/courses/{course.id}/copy"

    async def suggested(self) -> dict[str, str]:
        assignments = await self.courses.assignments(self.course)
        first = min((each.opens_at for each in assignments), default=None)
        return {"name": self.course.name, "opens": suggested_day(self.course, first)}

    async def show(
        self,
        form: dict[str, str],
        refusal: Refused | None = None,
        copied: list[CopiedAssignment] | None = None,
    ) -> HTMLResponse:
        """`copied` is the preview, if one is requested."""
        return render_page(
            "teaching/courses/course_copy.html",
            user=self.user,
            course=self.course,
            form=form,
            copied=copied,
            local=lambda each: f"{to_local(each, self.course.time_zone):%a %-d %b %Y, %H:%M}",
            refusal=refusal,
        )


actions = Actions("courses", CourseCopyPage, "/courses/{course_id}")
Day = Annotated[
    str,
    Query(
        max_length=20,
        description="The day on which the first assignment opens",
        json_schema_extra={"pattern": DATE_PATTERN},
    ),
]


@actions.pages.get("/copy")
async def show_copy(
    page: PageOf[CourseCopyPage],
    copies: Provided[CourseCopies],
    name: Annotated[str, Query(max_length=200)] = "",
    opens: Day = "",
) -> Response:
    if not opens:
        return await page.show(await page.suggested())
    form = {"name": name, "opens": opens}
    try:
        copied = await copies.preview(page.course, opens)
    except Refused as refusal:
        return await page.show(form, refusal=refusal)
    return await page.show(form, copied=copied)


@actions.api.get("/copy", summary="The times that the assignments of a copy would have, for instructors")
async def preview_copy(course: TaughtCourse, opens: Day, copies: Provided[CourseCopies]) -> CopyPreview:
    found = await copies.preview(course, opens)
    return CopyPreview(assignments=[CopiedAssignmentJSON.of_copy(each, course.time_zone) for each in found])


@actions.post(
    "/copy",
    then="/courses/{result.id}",
    status_code=201,
    summary="Copy a course to the next term, as an instructor: its assignments on other days, and no people",
)
async def copy_course(
    course: TaughtCourse, user: Instructor, body: NewCopyJSON, copies: Provided[CourseCopies]
) -> CourseJSON:
    new: Course = await copies.copy(user, course, body.name, body.opens)
    return CourseJSON.for_member(new, is_manager=True)
