"""The page with the list of courses, and what is done on it and over REST: create a course, or join one."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from app.accounts.web import Instructor, Reader, Submitter
from app.core.errors import Refused
from app.core.rest.actions import Actions, PageOf, Typed, TypedPage
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_list
from app.teaching.courses.due_dates import time_zones
from app.teaching.courses.last_attempts import LastAttempts
from app.teaching.courses.open_assignments import OpenAssignments
from app.teaching.courses.schemas import CourseJSON, JoinCodeJSON, NewCourseJSON
from app.teaching.courses.service import Courses
from app.teaching.courses.staff import manages


@dataclass(frozen=True)
class CoursesPage(TypedPage):
    """Your courses. With the code of a course, the form for joining it is already filled in."""

    user: Reader
    courses: Provided[Courses]
    open_work: Provided[OpenAssignments]
    last: Provided[LastAttempts]
    path = "/courses"

    async def show(
        self,
        typed: Typed,
        refusal: Refused | None = None,
        *,
        archived: bool = False,
        q: str = "",
        before: str | None = None,
    ) -> Response:
        found = await self.courses.visible_to(self.user, Cursor(SHOWN, before), archived=archived, q=q)
        beside = {"archived": "yes" if archived else ""}
        return render_list(
            "teaching/courses/courses.html",
            user=self.user,
            courses=found,
            open_work=await self.open_work.by_course(self.user, found.items),
            last_attempts=await self.last.by_course(self.user, found.items),
            links=ListLinks(self.address, found, before, {"q": q}, beside, "before"),
            archived=archived,
            assists=await self.courses.assists_any(self.user),
            manages=manages(self.user),
            refusal=refusal,
            form=typed,
            invited=refusal is None and bool(typed["code"]),
            more=lambda: {"zones": time_zones()},
        )


actions = Actions("courses", CoursesPage)
_COURSE = "/courses/{result.id}"
_YES = ("yes", "true", "1")


@actions.pages.get("/courses")
async def show_courses(
    page: PageOf[CoursesPage],
    code: Annotated[str, Query(max_length=100)] = "",
    archived: Annotated[str, Query(max_length=10)] = "",
    q: Annotated[str, Query(max_length=100)] = "",
    before: Annotated[str | None, Query(max_length=32)] = None,
) -> Response:
    """A value of the filter that the page does not offer is dropped."""
    return await page.show(Typed(code=code), archived=archived in _YES, q=q.strip(), before=before)


@actions.post(
    "/courses",
    then=_COURSE,
    status_code=201,
    summary="Create a course, as an instructor",
    responses=problem_responses(404),
)
async def create_course(user: Instructor, body: NewCourseJSON, courses: Provided[Courses]) -> CourseJSON:
    course = await courses.create(user, body.name, body.time_zone)
    return CourseJSON.for_member(course, is_manager=True)


@actions.post(
    "/courses/join", then=_COURSE, summary="Join a course by its code", responses=problem_responses(403, 404, 409)
)
async def join_course(user: Submitter, body: JoinCodeJSON, courses: Provided[Courses]) -> CourseJSON:
    course = await courses.join(user, body.code)
    return CourseJSON.for_member(course, is_manager=course.is_taught)
