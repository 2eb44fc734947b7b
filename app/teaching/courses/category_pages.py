"""The categories of a course and what they weigh: on a page with a line for each, and over REST."""

from dataclasses import dataclass

from starlette.responses import HTMLResponse

from app.accounts.web import Instructor
from app.core.errors import Refused
from app.core.rest.actions import Actions, PageOf, TypedPage
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page
from app.teaching.courses.categories import Categories
from app.teaching.courses.course_in_path import GradedCourse, TaughtCourse
from app.teaching.courses.form_lines import line_of_category
from app.teaching.courses.schemas import CategoryJSON, CategoryList, NewCategoriesJSON
from app.teaching.courses.service import Courses


@dataclass(frozen=True)
class CategoriesPage(TypedPage):
    course: TaughtCourse
    user: Instructor
    categories: Provided[Categories]
    courses: Provided[Courses]
    path = "/courses/{course.id}/categories"

    async def show(self, form: dict[str, str] | None = None, refusal: Refused | None = None) -> HTMLResponse:
        """`form` is what was typed into one that was refused."""
        current = await self.categories.of(self.course)
        lines = "\n".join(line_of_category(each) for each in current)
        return render_page(
            "teaching/courses/categories.html",
            user=self.user,
            course=self.course,
            categories=current,
            assignments=await self.courses.assignments(self.course),
            form={"categories": lines} if form is None else form,
            refusal=refusal,
        )


actions = Actions("courses", CategoriesPage, "/courses/{course_id}/categories")


@actions.api.get("", summary="The categories of a course, for those who read its gradebook")
async def list_categories(course: GradedCourse, categories: Provided[Categories]) -> CategoryList:
    return CategoryList(categories=[CategoryJSON.of(each) for each in await categories.of(course)])


@actions.pages.get("")
async def show_categories(page: PageOf[CategoriesPage]) -> HTMLResponse:
    return await page.show()


@actions.put(
    "",
    status_code=204,
    summary="Replace the categories of a course, as an instructor",
    responses=problem_responses(409),
)
async def replace_categories(
    course: TaughtCourse, user: Instructor, body: NewCategoriesJSON, categories: Provided[Categories]
) -> None:
    await categories.replace(user, course, body.read(), body.reason)
