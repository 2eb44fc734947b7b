"""More time or attempts for one student at an assignment: a page and the same over REST, for instructors, and for
assistants with the right `extensions`.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from starlette.responses import HTMLResponse

from app.accounts.web import Grader
from app.core.errors import Refused
from app.core.rest.actions import Actions, PageOf, TypedPage
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor, LongByName
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page
from app.teaching.courses.course_in_path import CourseForExtensions
from app.teaching.courses.extensions import Extensions
from app.teaching.courses.members import CourseMembers
from app.teaching.courses.schemas import ExtensionList, NewExtensionJSON
from app.teaching.courses.service import Courses


class ExtensionForm(NewExtensionJSON):
    """The student is chosen by name."""

    person: str = ""


@dataclass(frozen=True)
class ExtensionsPage(TypedPage):
    course: CourseForExtensions
    assignment_id: str
    user: Grader
    courses: Provided[Courses]
    extensions: Provided[Extensions]
    members: Provided[CourseMembers]
    path = "/courses/{course.id}/assignments/{assignment_id}/extensions"

    async def show(
        self, form: dict[str, str], refusal: Refused | None = None, q: str = "", after: str | None = None
    ) -> HTMLResponse:
        assignment = await self.courses.assignment(self.course, self.assignment_id)
        extensions = await self.extensions.of(self.course, assignment, Cursor(SHOWN, after), q)
        return render_page(
            "teaching/courses/extensions.html",
            user=self.user,
            course=self.course,
            assignment=assignment,
            form=form,
            refusal=refusal,
            extensions=extensions,
            links=ListLinks(self.address, extensions, after, {"q": q}),
            students=[each for each in await self.members.of(self.course) if each.role == "student"],
        )


actions = Actions("courses", ExtensionsPage, "/courses/{course_id}/assignments/{assignment_id}")


@actions.pages.get("/extensions")
async def show_extensions(
    page: PageOf[ExtensionsPage],
    q: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[str | None, Query(max_length=200)] = None,
) -> HTMLResponse:
    return await page.show({}, q=q.strip(), after=after)


@actions.api.get(
    "/extensions", summary="Extra time and attempts at an assignment, for instructors and with the right extensions"
)
async def list_extensions(
    course: CourseForExtensions,
    assignment_id: str,
    courses: Provided[Courses],
    extensions: Provided[Extensions],
    cursor: LongByName,
    q: Annotated[str, Query(max_length=100, description="A part of the name, or of what a roster says")] = "",
) -> ExtensionList:
    assignment = await courses.assignment(course, assignment_id)
    found = await extensions.of(course, assignment, cursor, q.strip())
    return ExtensionList(extensions=list(found), next=found.next)


@actions.api.put(
    "/extensions/{person_id}",
    status_code=204,
    summary="Give one student extra time or attempts, as an instructor or with the right extensions",
    responses=problem_responses(409),
)
async def extend_assignment(
    course: CourseForExtensions,
    assignment_id: str,
    person_id: str,
    user: Grader,
    body: NewExtensionJSON,
    courses: Provided[Courses],
    extensions: Provided[Extensions],
) -> None:
    assignment = await courses.assignment(course, assignment_id)
    await extensions.extend(user, course, assignment, person_id, body.extra_minutes, body.extra_attempts, body.reason)


@actions.form("/extend")
async def extend(
    course: CourseForExtensions,
    assignment_id: str,
    user: Grader,
    body: ExtensionForm,
    courses: Provided[Courses],
    extensions: Provided[Extensions],
) -> None:
    await extend_assignment(course, assignment_id, body.person, user, body, courses, extensions)
