"""The categories of a course and what they weigh: on a page with a line for each, and over REST."""

import re
from collections.abc import Sequence

from fastapi import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Instructor
from app.core.errors import FieldInvalid, Refused
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import PageRouter, RestRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.teaching.courses.categories import Categories
from app.teaching.courses.course_in_path import GradedCourse, TaughtCourse
from app.teaching.courses.grade_arithmetic import Category
from app.teaching.courses.schemas import CategoryJSON, CategoryList, NewCategoriesJSON
from app.teaching.courses.service import Course, Courses

router = PageRouter("/courses/{course_id}/categories")
api = RestRouter("courses")
_LINE = re.compile(r"(?P<name>.+):\s*(?P<weight>[0-9]{1,4})(?:\s*,\s*drop\s+(?P<drop>[0-9]{1,2}))?", re.ASCII)
_LARGEST_FORM = 16 * 1024


@api.get("/courses/{course_id}/categories", summary="The categories of a course, for those who read its gradebook")
async def list_categories(course: GradedCourse, categories: Provided[Categories]) -> CategoryList:
    return CategoryList(categories=[CategoryJSON.of(each) for each in await categories.of(course)])


@api.put(
    "/courses/{course_id}/categories",
    status_code=204,
    summary="Replace the categories of a course, as an instructor",
    responses=problem_responses(409),
)
async def replace_categories(
    course: TaughtCourse, user: Instructor, body: NewCategoriesJSON, categories: Provided[Categories]
) -> None:
    await categories.replace(user, course, body.read())


@router.get("")
async def show_categories(
    course: TaughtCourse, user: Instructor, categories: Provided[Categories], courses: Provided[Courses]
) -> HTMLResponse:
    current = await categories.of(course)
    return await _page(user, course, current, courses, {"categories": _as_lines(current)})


@router.post("")
async def change_categories(
    request: Request,
    course: TaughtCourse,
    user: Instructor,
    categories: Provided[Categories],
    courses: Provided[Courses],
) -> Response:
    form = await read_form(request, max_bytes=_LARGEST_FORM)
    try:
        found = _from_lines(form.get("categories", ""))
        await categories.replace(user, course, found, form.get("reason", ""))
    except Refused as refusal:
        return await _page(user, course, await categories.of(course), courses, form, refusal)
    return RedirectResponse(f"/courses/{course.id}/categories", status_code=303)


async def _page(
    user: User,
    course: Course,
    categories: Sequence[Category],
    courses: Courses,
    form: dict[str, str],
    refusal: Refused | None = None,
) -> HTMLResponse:
    return render_page(
        "categories.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        course=course,
        categories=categories,
        assignments=await courses.assignments(course),
        form=form,
        refusal=refusal,
    )


def _from_lines(text: str) -> list[Category]:
    """A category on each line, such as `Homework: 40, drop 1`. Raises `FieldInvalid`."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise FieldInvalid(
                f"categories: line {number} must be a name, a colon and a weight, such as 'Homework: 40' or "
                "'Homework: 40, drop 1'."
            )
        found.append(Category(match["name"].strip(), int(match["weight"]), int(match["drop"] or 0)))
    return found


def _as_lines(categories: list[Category]) -> str:
    return "\n".join(
        f"{each.name}: {each.weight}" + (f", drop {each.drop_lowest}" if each.drop_lowest else "")
        for each in categories
    )
