"""The gradebook of a course, on a page and as a file for a spreadsheet."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.courses.csv_safe import csv_download
from app.courses.gradebook import columns_of, gradebook
from app.courses.pages import services_for, titles_of
from app.courses.service import manages
from app.web.templating import render_page

router = APIRouter(prefix="/courses/{course_id}", include_in_schema=False)
# `Courses.graded` says for which course.
Grader = Annotated[User, Depends(require_scope("instruct"))]
_PAGE = 50


@router.get("/gradebook")
async def show_gradebook(
    request: Request, course_id: str, user: Grader, after: Annotated[str | None, Query(max_length=200)] = None
) -> HTMLResponse:
    services = services_for(request)
    course = await services.courses.graded(user, course_id)
    columns = columns_of(await services.courses.assignments(course))
    lines = await gradebook(services.database, course, columns, _PAGE + 1, after)
    page, more = lines[:_PAGE], len(lines) > _PAGE
    return render_page(
        "gradebook.html",
        user=user,
        manages=manages(user),
        course=course,
        columns=columns,
        titles=titles_of(request),
        lines=page,
        first=f"/courses/{course.id}/gradebook" if after else None,
        further=page[-1].name if more else None,
    )


@router.get("/gradebook.csv")
async def download_gradebook(request: Request, course_id: str, user: Grader) -> Response:
    services = services_for(request)
    course = await services.courses.graded(user, course_id)
    columns = columns_of(await services.courses.assignments(course))
    lines = await gradebook(services.database, course, columns)
    head = ["name", *(f"{each.assignment.name}: {each.problem} ({each.points})" for each in columns), "total"]
    rows = ([each.name, *(cell.points for cell in each.cells), each.total] for each in lines)
    return csv_download("gradebook.csv", [head, *rows])
