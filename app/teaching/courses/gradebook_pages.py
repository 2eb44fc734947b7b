"""The gradebook of a course, on a page and as a file for a spreadsheet, and how it did at one assignment."""

import asyncio
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Grader
from app.core.clock import now
from app.core.database import Database
from app.core.rest.paging import Cursor, Page
from app.core.services import Provided, services_of
from app.core.web.drawings.columns import FEWEST_DRAWN
from app.core.web.templating import render_page
from app.teaching.courses.course_in_path import GradedCourse
from app.teaching.courses.course_pages import titles_of
from app.teaching.courses.gradebook import Line, LineFilter, columns_of, gradebook
from app.teaching.courses.gradebook_order import Order
from app.teaching.courses.safe_csv import csv_download
from app.teaching.courses.service import Course, Courses
from app.teaching.courses.spreadsheet import xlsx_download
from app.teaching.courses.statistics import statistics_of

router = APIRouter(prefix="/courses/{course_id}", include_in_schema=False)
_PAGE = 50


@router.get("/gradebook")
async def show_gradebook(
    request: Request,
    course: GradedCourse,
    user: Grader,
    courses: Provided[Courses],
    database: Provided[Database],
    after: Annotated[str | None, Query(max_length=200)] = None,
) -> HTMLResponse:
    """Filter and order are in the address, and so in the address of each further page."""
    columns = columns_of(await courses.assignments(course))
    matching = _read_filter(request)
    order = Order.read(request.query_params.get("sort", ""), len(columns))
    here = f"/courses/{course.id}/gradebook"
    sort = "" if order.is_by_name else str(order)
    if order.is_by_name:
        lines = await gradebook(database, course, columns, Cursor(_PAGE, after), matching=matching)
    else:
        lines = _part(order.sort(list(await gradebook(database, course, columns, matching=matching))), after)
    return render_page(
        "gradebook.html",
        user=user,
        course=course,
        columns=columns,
        titles=titles_of(request),
        lines=lines,
        matching=matching,
        order=order,
        sorted_by=lambda by: _address(here, matching, sort=order.link(by)),
        now=now(),
        first=_address(here, matching, sort=sort) if after else None,
        further=_address(here, matching, sort=sort, after=lines.next) if lines.next else None,
    )


@router.get("/gradebook.csv")
async def download_gradebook(request: Request, course: GradedCourse) -> Response:
    head, rows = await _table(request, course)
    return csv_download("gradebook.csv", [head, *rows])


@router.get("/gradebook.xlsx")
async def download_workbook(request: Request, course: GradedCourse) -> Response:
    head, rows = await _table(request, course)
    # Compressing a large one takes time that other requests should not wait for.
    return await asyncio.to_thread(xlsx_download, "gradebook.xlsx", head, rows, "Gradebook")


@router.get("/assignments/{assignment_id}/statistics")
async def show_statistics(
    request: Request,
    course: GradedCourse,
    assignment_id: str,
    user: Grader,
    courses: Provided[Courses],
    database: Provided[Database],
) -> HTMLResponse:
    assignment = await courses.assignment(course, assignment_id)
    columns = columns_of([assignment])
    lines = await gradebook(database, course, columns)
    return render_page(
        "assignment_statistics.html",
        user=user,
        course=course,
        assignment=assignment,
        statistics=statistics_of(columns, lines.items),
        fewest_drawn=FEWEST_DRAWN,
        titles=titles_of(request),
    )


async def _table(request: Request, course: Course) -> tuple[list[str], list[list[object]]]:
    """Head and rows, with all students. The last column names the problems whose points were changed by hand."""
    services = services_of(request)
    columns = columns_of(await services[Courses].assignments(course))
    lines = await gradebook(services[Database], course, columns)
    problems = [f"{each.assignment.name}: {each.problem}" for each in columns]
    worth = [f"{problem} ({each.points})" for problem, each in zip(problems, columns, strict=True)]
    rows: list[list[object]] = []
    for line in lines:
        cells = zip(problems, line.cells, strict=True)
        changed = "; ".join(problem for problem, cell in cells if cell.changed_by_hand)
        rows.append([line.name, *(cell.points for cell in line.cells), line.total, changed or None])
    return ["name", *worth, "total", "changed by hand"], rows


def _part(lines: list[Line], after: str | None) -> Page[Line]:
    """The part of all lines, in an order of their points, that begins at the place `after`."""
    start = int(after) if after and after.isascii() and after.isdecimal() and len(after) < 7 else 0
    end = start + _PAGE
    return Page(lines[start:end], str(end) if end < len(lines) else None)


def _read_filter(request: Request) -> LineFilter:
    """A value that the page does not offer is dropped."""
    query = request.query_params
    below = query.get("below", "").strip()
    return LineFilter(
        q=query.get("q", "").strip(),
        is_missing=query.get("missing") == "on",
        below=int(below) if below.isascii() and below.isdecimal() and 0 < int(below[:4]) <= 100 else None,
    )


def _address(here: str, matching: LineFilter, **more: str) -> str:
    fields = {
        "q": matching.q,
        "missing": "on" if matching.is_missing else "",
        "below": str(matching.below or ""),
    }
    query = urlencode({name: value for name, value in (fields | more).items() if value})
    return f"{here}?{query}" if query else here
