"""The settings of a course: their page, and what is done on it and over REST."""

from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.web import Instructor
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page
from app.teaching.courses.course_changes import CourseChanges
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.due_dates import time_zones
from app.teaching.courses.members import CourseMembers
from app.teaching.courses.rights import RIGHT_MEANINGS
from app.teaching.courses.schemas import (
    AssistantList,
    ChangedCourseJSON,
    CourseJSON,
    InstructorList,
    NewInstructorJSON,
    RightsJSON,
)
from app.teaching.courses.service import Course
from app.teaching.courses.staff import CourseInstructor, CourseStaff


@dataclass(frozen=True)
class CourseSettingsPage(FormPage):
    request: Request
    course: TaughtCourse
    user: Instructor
    staff: Provided[CourseStaff]
    members: Provided[CourseMembers]
    path = "/courses/{course.id}/settings"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(self.fields() | typed, refusal)

    async def done(self, action: str, result: Any) -> Response:
        """Someone who no longer teaches the course cannot see its settings."""
        is_self = action == "remove_instructor" and self.request.path_params["person_id"] == self.user.id
        return RedirectResponse("/courses" if is_self else self.address, status_code=303)

    def fields(self) -> Typed:
        return Typed(name=self.course.name, time_zone=self.course.time_zone)

    async def show(self, form: dict[str, str], refusal: Refused | None = None) -> HTMLResponse:
        return render_page(
            "teaching/courses/course_settings.html",
            user=self.user,
            course=self.course,
            zones=time_zones(),
            instructors=await self.staff.of(self.course.id),
            assistants=await self.members.assistants(self.course),
            meanings=RIGHT_MEANINGS,
            form=form,
            refusal=refusal,
        )


actions = Actions("courses", CourseSettingsPage, "/courses/{course_id}")


@actions.pages.get("/settings")
async def show_course_settings(
    page: PageOf[CourseSettingsPage],
) -> HTMLResponse:
    return await page.show(page.fields())


@actions.put(
    "",
    form="/settings",
    summary="Change the name and the time zone of a course, as an instructor",
    responses=problem_responses(404),
)
async def change_course(
    course: TaughtCourse, user: Instructor, body: ChangedCourseJSON, changes: Provided[CourseChanges]
) -> CourseJSON:
    return _managed(await changes.change(user, course, body.name, body.time_zone))


@actions.post("/join-code", summary="Give a course a new join code, as an instructor; the old one no longer works")
async def renew_join_code(course: TaughtCourse, user: Instructor, changes: Provided[CourseChanges]) -> CourseJSON:
    return _managed(await changes.renew_join_code(user, course))


@actions.put("/archive", summary="Archive a course, as an instructor: nothing counts in it any more")
async def archive_course(course: TaughtCourse, user: Instructor, changes: Provided[CourseChanges]) -> CourseJSON:
    return _managed(await changes.archive(user, course))


@actions.delete(
    "/archive",
    form="/archive/undo",
    status_code=200,
    summary="Open an archived course again, as an instructor",
)
async def open_course_again(course: TaughtCourse, user: Instructor, changes: Provided[CourseChanges]) -> CourseJSON:
    return _managed(await changes.open_again(user, course))


@actions.delete(
    "",
    form="/delete",
    then="/courses",
    summary="Delete a course without people and assignments, as an instructor",
    responses=problem_responses(409),
)
async def delete_course(course: TaughtCourse, user: Instructor, changes: Provided[CourseChanges]) -> None:
    await changes.delete(user, course)


@actions.api.get("/instructors", summary="Who teaches a course, for its instructors")
async def list_instructors(course: TaughtCourse, staff: Provided[CourseStaff]) -> InstructorList:
    return InstructorList(instructors=await staff.of(course.id))


@actions.post("/instructors", status_code=201, summary="Add an instructor to a course, as one of its instructors")
async def add_instructor(
    course: TaughtCourse, user: Instructor, body: NewInstructorJSON, staff: Provided[CourseStaff]
) -> CourseInstructor:
    return await staff.add(user, course.id, course.name, body.person)


@actions.delete(
    "/instructors/{person_id}",
    form="/instructors/{person_id}/remove",
    summary="Remove an instructor from a course, except the last one",
    responses=problem_responses(409),
)
async def remove_instructor(
    course: TaughtCourse, person_id: str, user: Instructor, staff: Provided[CourseStaff]
) -> None:
    await staff.remove(user, course.id, course.name, person_id)


@actions.api.get("/assistants", summary="The assistants of a course and the rights of each, for its instructors")
async def list_assistants(course: TaughtCourse, members: Provided[CourseMembers]) -> AssistantList:
    return AssistantList(assistants=await members.assistants(course))


@actions.put(
    "/people/{person_id}/rights",
    then="/courses/{course_id}/settings#assistants",
    status_code=204,
    summary="Set the rights of an assistant of a course, as an instructor",
)
async def set_rights(
    course: TaughtCourse, person_id: str, user: Instructor, body: RightsJSON, members: Provided[CourseMembers]
) -> None:
    await members.set_rights(user, course, person_id, body.rights)


def _managed(course: Course) -> CourseJSON:
    return CourseJSON.for_member(course, is_manager=True)
