"""REST: courses, their assignments, and the gradebook."""

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import JSONResponse, Response

from app.accounts.web import Instructor, Reader
from app.core.clock import now
from app.core.database import Database
from app.core.rest.paging import Cursor
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import rest_router
from app.core.services import Provided, services_of
from app.teaching.courses.assignments import AssignmentChanges
from app.teaching.courses.course_in_path import GradedCourse, JoinedCourse, TaughtCourse
from app.teaching.courses.extensions import Extensions
from app.teaching.courses.gradebook import LineFilter, columns_of, gradebook
from app.teaching.courses.schemas import (
    AssignmentJSON,
    AssignmentList,
    ChangedAssignmentJSON,
    CourseJSON,
    CourseList,
    ExtensionList,
    GradebookPage,
    NewAssignmentJSON,
    NewExtensionJSON,
    gradebook_json,
)
from app.teaching.courses.service import Courses, manages

router = rest_router("courses")
_REFUSALS = problem_responses(409)


@router.get("/courses", summary="Your courses; all of them for instructors")
async def list_courses(request: Request, user: Reader) -> CourseList:
    courses = await services_of(request)[Courses].visible_to(user)
    return CourseList(courses=[CourseJSON.for_member(each, is_manager=manages(user)) for each in courses])


@router.get("/courses/{course_id}/assignments", summary="The assignments of a course")
async def list_assignments(course: JoinedCourse, user: Reader, courses: Provided[Courses]) -> AssignmentList:
    found = await courses.assignments(course)
    moment = now()
    return AssignmentList(
        assignments=[AssignmentJSON.of(each) for each in found if manages(user) or each.opens_at <= moment]
    )


@router.post(
    "/courses/{course_id}/assignments",
    status_code=201,
    summary="Create an assignment, as an instructor",
    responses=_REFUSALS,
)
async def create_assignment(
    course: TaughtCourse, body: NewAssignmentJSON, assignments: Provided[AssignmentChanges]
) -> AssignmentJSON:
    return AssignmentJSON.of(await assignments.create(course, body.terms(course)))


@router.put(
    "/courses/{course_id}/assignments/{assignment_id}",
    summary="Replace all fields of an assignment, as an instructor",
    responses=_REFUSALS,
)
async def change_assignment(
    course: TaughtCourse,
    assignment_id: str,
    user: Instructor,
    body: ChangedAssignmentJSON,
    courses: Provided[Courses],
    assignments: Provided[AssignmentChanges],
) -> AssignmentJSON:
    before = await courses.assignment(course, assignment_id)
    return AssignmentJSON.of(await assignments.change(user, course, before, body.terms(course), body.reason))


@router.delete(
    "/courses/{course_id}/assignments/{assignment_id}",
    status_code=204,
    summary="Withdraw an assignment, as an instructor",
)
async def withdraw_assignment(
    course: TaughtCourse, assignment_id: str, user: Instructor, assignments: Provided[AssignmentChanges]
) -> None:
    await assignments.withdraw(user, course, assignment_id)


@router.get(
    "/courses/{course_id}/assignments/{assignment_id}/extensions",
    summary="Extra time and attempts at an assignment, for instructors",
)
async def list_extensions(
    course: TaughtCourse, assignment_id: str, courses: Provided[Courses], extensions: Provided[Extensions]
) -> ExtensionList:
    assignment = await courses.assignment(course, assignment_id)
    found = await extensions.of(assignment)
    return ExtensionList(extensions=found)


@router.put(
    "/courses/{course_id}/assignments/{assignment_id}/extensions/{person_id}",
    status_code=204,
    summary="Give one student extra time or attempts, as an instructor",
    responses=_REFUSALS,
)
async def extend_assignment(
    course: TaughtCourse,
    assignment_id: str,
    person_id: str,
    user: Instructor,
    body: NewExtensionJSON,
    courses: Provided[Courses],
    extensions: Provided[Extensions],
) -> None:
    assignment = await courses.assignment(course, assignment_id)
    await extensions.extend(user, course, assignment, person_id, body.extra_minutes, body.extra_attempts, body.reason)


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
    q: Annotated[str, Query(max_length=100, description="A part of the name")] = "",
    missing: Annotated[
        bool, Query(description="Only students without a submission that counts at a problem that has opened")
    ] = False,
    below: Annotated[
        int | None,
        Query(ge=1, le=100, description="Only students with less than this percentage of the points that have opened"),
    ] = None,
) -> Response:
    columns = columns_of(await courses.assignments(course))
    matching = LineFilter(q.strip(), missing, below)
    lines = await gradebook(database, course, columns, Cursor(limit, after), matching=matching)
    # Without a model for each of thousands of cells: tests/app/teaching/courses/test_gradebook.py compares it with the
    # model.
    return JSONResponse(gradebook_json(columns, lines))
