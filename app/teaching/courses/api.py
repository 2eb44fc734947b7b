"""REST: courses, their assignments, and the gradebook."""

from typing import Annotated

from fastapi import Query
from starlette.responses import JSONResponse, Response

from app.accounts.web import Reader
from app.core.clock import now
from app.core.database import Database
from app.core.rest.paging import Cursor, LongById, LongNewestFirst, Page
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.teaching.courses.course_in_path import GradedCourse, JoinedCourse
from app.teaching.courses.exam_starts import ExamStarts
from app.teaching.courses.gradebook import LineFilter, columns_of
from app.teaching.courses.gradebook_order import Order, ordered_lines
from app.teaching.courses.schemas import (
    AssignmentJSON,
    AssignmentList,
    CourseJSON,
    CourseList,
    GradebookPage,
    gradebook_json,
)
from app.teaching.courses.section_dates import SectionDates
from app.teaching.courses.service import Courses, no_assignment

router = RestRouter("courses")
_REFUSALS = problem_responses(409)


@router.get("/courses", summary="The courses that you teach or are in; all of them for owners")
async def list_courses(
    user: Reader,
    courses: Provided[Courses],
    cursor: LongNewestFirst,
    archived: Annotated[bool, Query(description="The archived courses instead of those that run")] = False,
    q: Annotated[str, Query(max_length=100, description="A part of the name")] = "",
) -> CourseList:
    found = await courses.visible_to(user, cursor, archived=archived, q=q.strip())
    listed = [CourseJSON.for_member(each, is_manager=each.is_taught) for each in found]
    return CourseList(courses=listed, next=found.next)


@router.get("/courses/{course_id}", summary="One of your courses")
async def get_course(course: JoinedCourse) -> CourseJSON:
    return CourseJSON.for_member(course, is_manager=course.is_taught)


@router.get("/courses/{course_id}/assignments", summary="The assignments of a course")
async def list_assignments(
    course: JoinedCourse,
    user: Reader,
    courses: Provided[Courses],
    starts: Provided[ExamStarts],
    dates: Provided[SectionDates],
    cursor: LongById,
    q: Annotated[str, Query(max_length=100, description="A part of the name, or the slug of a problem")] = "",
) -> AssignmentList:
    """With the dates of your section, if you are a student."""
    moment = now()
    shown = await starts.shown_to(user, course, await courses.assignments(course))
    found = await dates.for_student(course, user, shown)
    seen = [each for each in found if (course.is_taught or each.opens_at <= moment) and each.is_named(q.strip())]
    page = Page.part(seen, cursor, lambda each: each.id, no_assignment)
    return AssignmentList(assignments=[AssignmentJSON.of(each) for each in page], next=page.next)


@router.get(
    "/courses/{course_id}/gradebook",
    summary="The points of every student at every problem, for instructors and assistants of the course",
    response_model=GradebookPage,
)
async def get_gradebook(
    course: GradedCourse,
    courses: Provided[Courses],
    database: Provided[Database],
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the previous page")] = None,
    q: Annotated[
        str, Query(max_length=100, description="A part of the name, or of the roster's name, email or number")
    ] = "",
    section: Annotated[str, Query(max_length=200, description="Only students of this section of the roster")] = "",
    missing: Annotated[
        bool, Query(description="Only students without a submission that counts at a problem that has opened")
    ] = False,
    below: Annotated[
        int | None,
        Query(ge=1, le=100, description="Only students with less than this percentage of the points that have opened"),
    ] = None,
    sort: Annotated[
        str,
        Query(
            pattern="^-?(name|total|percent|[1-9][0-9]{0,3})$",
            description="By real name, points, percent, or the points of a column, from 1; with `-`, the most first",
        ),
    ] = "name",
) -> Response:
    columns = columns_of(await courses.assignments(course))
    matching = LineFilter(q.strip(), missing, below, section.strip())
    order = Order.require(sort, len(columns))
    lines = await ordered_lines(database, course, columns, order, Cursor(limit, after), matching)
    # Without a model for each of thousands of cells: tests/app/teaching/courses/test_gradebook.py compares it with the
    # model.
    return JSONResponse(gradebook_json(columns, lines))
