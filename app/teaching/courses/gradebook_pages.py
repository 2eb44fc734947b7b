"""The gradebook of a course, on a page and as a file for a spreadsheet, and how it did at one assignment."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Grader
from app.core.database import Database
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_list, render_page
from app.presentation.drawings.columns import FEWEST_DRAWN
from app.problems.catalogue import Catalogue
from app.teaching.courses.course_in_path import GradedCourse
from app.teaching.courses.gradebook import Column, Line, LineFilter, columns_of, gradebook
from app.teaching.courses.gradebook_files import Format, Table, canvas_table, moodle_table, table_of
from app.teaching.courses.gradebook_order import Order, ordered_lines
from app.teaching.courses.roster_lines import RosterLines
from app.teaching.courses.safe_csv import csv_download
from app.teaching.courses.service import Course, Courses
from app.teaching.courses.spreadsheet import xlsx_download
from app.teaching.courses.statistics import statistics_of

router = PageRouter("/courses/{course_id}")
_TABLES: dict[Format, Callable[[Sequence[Column], Sequence[Line]], Table]] = {
    "": table_of,
    "canvas": canvas_table,
    "moodle": moodle_table,
}


@router.get("/gradebook")
async def show_gradebook(
    request: Request,
    course: GradedCourse,
    user: Grader,
    courses: Provided[Courses],
    database: Provided[Database],
    roster: Provided[RosterLines],
    catalogue: Provided[Catalogue],
    after: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Filter and order are in the address, and so in the address of each further page."""
    columns = columns_of(await courses.assignments(course))
    matching = _read_filter(request)
    order = Order.read(request.query_params.get("sort", ""), len(columns))
    here = f"/courses/{course.id}/gradebook"
    sort = "" if order.is_by_name else str(order)
    lines = await ordered_lines(database, course, columns, order, Cursor(SHOWN, after), matching)
    links = ListLinks(here, lines, after, _fields(matching), {"sort": sort})
    return render_list(
        "teaching/courses/gradebook.html",
        user=user,
        catalogue=catalogue.seen,
        course=course,
        manages=course.is_taught,
        columns=columns,
        sections=await roster.sections(course.id),
        lines=lines,
        matching=matching,
        order=order,
        in_order=f"sort={sort}" if sort else "",
        links=links,
        more=lambda: {
            "titles": catalogue.titles(),
            "sorted_by": lambda by: replace(links, beside={"sort": order.link(by)}).whole,
        },
    )


@router.get("/gradebook.csv")
async def download_gradebook(
    course: GradedCourse,
    courses: Provided[Courses],
    database: Provided[Database],
    kind: Annotated[Format, Query(alias="for")] = "",
    sort: str = "",
) -> Response:
    """All that is known, or a file that a learning platform imports; in the order `sort` of the page."""
    head, rows = await _table(course, courses, database, sort, kind)
    return csv_download(f"gradebook{'-' if kind else ''}{kind}.csv", [head, *rows])


@router.get("/gradebook.xlsx")
async def download_workbook(
    course: GradedCourse, courses: Provided[Courses], database: Provided[Database], sort: str = ""
) -> Response:
    head, rows = await _table(course, courses, database, sort)
    # Compressing a large one takes time that other requests should not wait for.
    return await asyncio.to_thread(xlsx_download, "gradebook.xlsx", head, rows, "Gradebook")


@router.get("/assignments/{assignment_id}/statistics")
async def show_statistics(
    course: GradedCourse,
    assignment_id: str,
    user: Grader,
    courses: Provided[Courses],
    database: Provided[Database],
    catalogue: Provided[Catalogue],
) -> HTMLResponse:
    assignment = await courses.assignment(course, assignment_id)
    columns = columns_of([assignment])
    lines = await gradebook(database, course, columns)
    return render_page(
        "teaching/courses/assignment_statistics.html",
        user=user,
        course=course,
        assignment=assignment,
        statistics=statistics_of(columns, lines.items),
        fewest_drawn=FEWEST_DRAWN,
        titles=catalogue.titles(),
    )


async def _table(course: Course, courses: Courses, database: Database, sort: str, kind: Format = "") -> Table:
    """Head and rows, with all students in the order of the page."""
    columns = columns_of(await courses.assignments(course))
    order = Order.read(sort, len(columns))
    lines = await ordered_lines(database, course, columns, order)
    return _TABLES[kind](columns, lines.items)


def _read_filter(request: Request) -> LineFilter:
    """A value that the page does not offer is dropped."""
    query = request.query_params
    below = query.get("below", "").strip()
    return LineFilter(
        q=query.get("q", "").strip(),
        is_missing=query.get("missing") == "on",
        section=query.get("section", "").strip()[:200],
        below=int(below) if below.isascii() and below.isdecimal() and 0 < int(below[:4]) <= 100 else None,
    )


def _fields(matching: LineFilter) -> dict[str, str]:
    """The filter as its form sends it."""
    return {
        "q": matching.q,
        "section": matching.section,
        "missing": "on" if matching.is_missing else "",
        "below": str(matching.below or ""),
    }
