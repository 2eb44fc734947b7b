"""The page of a course, and what is done on it and over REST: to its announcements and its members."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Instructor, Reader
from app.core.clock import now
from app.core.database import Database
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, Typed
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided, services_of
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.teaching.courses.announcements import LONGEST_ANNOUNCEMENT, Announcement, Announcements
from app.teaching.courses.course_in_path import JoinedCourse, TaughtCourse
from app.teaching.courses.due_dates import to_local
from app.teaching.courses.extensions import Extensions
from app.teaching.courses.gradebook import columns_of, gradebook
from app.teaching.courses.schemas import AnnouncementList, MemberRoleJSON, NewAnnouncementJSON
from app.teaching.courses.service import Courses, manages


@dataclass(frozen=True)
class CoursePage(FormPage):
    """A course with its announcements, assignments and people."""

    request: Request
    course: JoinedCourse
    user: Reader

    @property
    def address(self) -> str:
        return f"/courses/{self.course.id}"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed, refusal)

    async def show(
        self,
        form: dict[str, str],
        refusal: Refused | None = None,
        removed: str = "",
        withdrawn: dict[str, str] | None = None,
    ) -> HTMLResponse:
        """`form` is what was typed into the one that was refused. `removed` is the id of someone who was removed, and
        `withdrawn` has the fields of an assignment that was withdrawn: the page offers to undo either.
        """
        services, course, user = services_of(self.request), self.course, self.user
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
            titles=titles_of(self.request),
            answered={each.slug for each in services[Catalogue].all() if each.manifest.mode == "answer"},
            announcements=await services[Announcements].of(course),
            longest_announcement=LONGEST_ANNOUNCEMENT,
            members=await services[Courses].members(course) if is_manager else [],
            removed=await services[Courses].former_member(course, removed) if is_manager else None,
            withdrawn=withdrawn,
            refusal=refusal,
            form=form,
        )


actions = Actions("courses", CoursePage, "/courses/{course_id}")


@actions.pages.get("")
async def show_course(
    page: Annotated[CoursePage, Depends()], removed: Annotated[str, Query(max_length=32)] = ""
) -> HTMLResponse:
    return await page.show({}, removed=removed)


@actions.api.get("/announcements", summary="The announcements of one of your courses")
async def list_announcements(course: JoinedCourse, announcements: Provided[Announcements]) -> AnnouncementList:
    found = await announcements.of(course)
    return AnnouncementList(announcements=found)


@actions.post("/announcements", status_code=201, summary="Post an announcement to a course, as an instructor")
async def announce(
    course: TaughtCourse, user: Instructor, body: NewAnnouncementJSON, announcements: Provided[Announcements]
) -> Announcement:
    return await announcements.announce(user, course, body.text)


@actions.delete(
    "/announcements/{announcement_id}",
    form="/announcements/{announcement_id}/remove",
    summary="Remove an announcement, as an instructor",
)
async def remove_announcement(
    course: TaughtCourse, announcement_id: str, user: Instructor, announcements: Provided[Announcements]
) -> None:
    await announcements.remove(user, course, announcement_id)


@actions.delete(
    "/people/{person_id}",
    form="/people/{person_id}/remove",
    then="/courses/{course_id}?removed={person_id}",
    summary="Remove a member from a course, as an instructor",
)
async def remove_from_course(course: TaughtCourse, person_id: str, courses: Provided[Courses]) -> None:
    await courses.remove(course, person_id)


@actions.put(
    "/people/{person_id}",
    form="/people/{person_id}/add",
    then="/courses/{course_id}#people",
    status_code=204,
    summary="Add an account to a course as a student, as an instructor",
)
async def add_to_course(course: TaughtCourse, person_id: str, courses: Provided[Courses]) -> None:
    await courses.add(course, person_id)


@actions.put(
    "/people/{person_id}/role",
    status_code=204,
    summary="Make a member an assistant, who reads the gradebook of the course, or a student",
    responses=problem_responses(409),
)
async def set_role_in_course(
    course: TaughtCourse, person_id: str, body: MemberRoleJSON, courses: Provided[Courses]
) -> None:
    await courses.set_role(course, person_id, body.role)


def titles_of(request: Request) -> dict[str, str]:
    return {each.slug: each.manifest.title for each in services_of(request)[Catalogue].all()}
