"""Problems that only a course sees: their page, and what is done on it and over REST."""

from dataclasses import dataclass

from pydantic import Field
from starlette.responses import HTMLResponse

from app.accounts.web import Instructor
from app.core.errors import Refused
from app.core.rest.actions import Actions, PageOf, TypedPage
from app.core.rest.body import RequestBody
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.view import View
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.course_problems import CourseProblem, CourseProblems
from app.teaching.courses.due_dates import LocalTime, from_local, to_local


class NewCourseProblemJSON(RequestBody):
    """A problem by its slug. `version` null is the one that was uploaded last. `visible_from`, in the time zone of the
    course, is when its members begin to see it; null is now.
    """

    problem: str = Field(min_length=1, max_length=64)
    version: str | None = Field(None, json_schema_extra={"pattern": "^[0-9a-f]{64}$"})
    visible_from: LocalTime | None = None


class CourseProblemList(View):
    """By slug."""

    problems: list[CourseProblem]


@dataclass(frozen=True)
class CourseProblemPage(TypedPage):
    course: TaughtCourse
    user: Instructor
    problems: Provided[CourseProblems]
    catalogue: Provided[Catalogue]
    path = "/courses/{course.id}/problems"

    async def show(self, form: dict[str, str], refusal: Refused | None = None) -> HTMLResponse:
        course = self.course
        return render_page(
            "teaching/courses/course_problems.html",
            user=self.user,
            course=course,
            problems=await self.problems.of(course),
            titles=self.catalogue.titles(),
            local=lambda each: f"{to_local(each, course.time_zone):%a %-d %b %Y, %H:%M}",
            form=form,
            refusal=refusal,
        )


actions = Actions("courses", CourseProblemPage, "/courses/{course_id}/problems")


@actions.pages.get("")
async def show_course_problems(page: PageOf[CourseProblemPage], problem: str = "", version: str = "") -> HTMLResponse:
    return await page.show({"problem": problem[:64], "version": version[:64]})


@actions.api.get("", summary="The problems, and versions of problems, that only this course sees, for instructors")
async def list_course_problems(course: TaughtCourse, problems: Provided[CourseProblems]) -> CourseProblemList:
    return CourseProblemList(problems=await problems.of(course))


@actions.post(
    "",
    status_code=201,
    summary="Show a version of a problem to one course from a moment on, as an instructor",
    responses=problem_responses(409),
)
async def give_problem(
    course: TaughtCourse, user: Instructor, body: NewCourseProblemJSON, problems: Provided[CourseProblems]
) -> CourseProblem:
    at = body.visible_from
    moment = None if at is None else from_local("visible_from", at, course.time_zone, is_due=False)
    return await problems.give(user, course, body.problem, body.version, moment)


@actions.delete(
    "/{slug}",
    form="/{slug}/remove",
    summary="Take a version of a problem back from a course, as an instructor; attempts stay",
)
async def take_problem_back(
    course: TaughtCourse, slug: str, user: Instructor, problems: Provided[CourseProblems]
) -> None:
    await problems.take_back(user, course, slug)
