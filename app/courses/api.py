"""REST: courses, their assignments, and the gradebook."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import JSONResponse, Response

from app.accounts.caller import User
from app.accounts.web import require_role, require_scope
from app.clock import now
from app.courses.gradebook import LineFilter, columns_of, gradebook
from app.courses.schemas import (
    AssignmentJSON,
    AssignmentList,
    ChangedAssignmentJSON,
    CourseJSON,
    CourseList,
    ExtensionJSON,
    ExtensionList,
    GradebookPage,
    JoinCodeJSON,
    MemberRoleJSON,
    NewAssignmentJSON,
    NewCourseJSON,
    NewExtensionJSON,
    gradebook_json,
)
from app.courses.service import manages
from app.courses.services import CourseServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["courses"])
Reader = Annotated[User, Depends(require_scope("read"))]
Submitter = Annotated[User, Depends(require_scope("submit"))]
Instructor = Annotated[User, Depends(require_role("instructor"))]
# `Courses.graded` says for which course.
Grader = Annotated[User, Depends(require_scope("instruct"))]
_REFUSALS = problem_responses(400, 401, 403, 404, 409, 413, 415, 422)


@router.get("/courses", summary="Your courses; all of them for instructors", responses=problem_responses(401, 403))
async def list_courses(request: Request, user: Reader) -> CourseList:
    courses = await services_of(request, CourseServices).courses.visible_to(user)
    return CourseList(courses=[CourseJSON.of(each, is_manager=manages(user)) for each in courses])


@router.post(
    "/courses",
    status_code=201,
    summary="Create a course, as an instructor",
    responses=problem_responses(400, 401, 403, 404, 413, 415, 422),
    openapi_extra=body_of(NewCourseJSON),
)
async def create_course(request: Request, user: Instructor) -> CourseJSON:
    body = await read_json(request, NewCourseJSON)
    course = await services_of(request, CourseServices).courses.create(body.name, body.time_zone)
    return CourseJSON.of(course, is_manager=True)


@router.post(
    "/courses/join",
    summary="Join a course by its code",
    responses=_REFUSALS,
    openapi_extra=body_of(JoinCodeJSON),
)
async def join_course(request: Request, user: Submitter) -> CourseJSON:
    body = await read_json(request, JoinCodeJSON)
    course = await services_of(request, CourseServices).courses.join(user, body.code)
    return CourseJSON.of(course, is_manager=manages(user))


@router.get("/courses/{course_id}/assignments", summary="What is due", responses=problem_responses(401, 403, 404))
async def list_assignments(request: Request, course_id: str, user: Reader) -> AssignmentList:
    courses = services_of(request, CourseServices).courses
    found = await courses.assignments(await courses.get(user, course_id))
    moment = now()
    return AssignmentList(
        assignments=[AssignmentJSON.of(each) for each in found if manages(user) or each.opens_at <= moment]
    )


@router.post(
    "/courses/{course_id}/assignments",
    status_code=201,
    summary="Create an assignment, as an instructor",
    responses=_REFUSALS,
    openapi_extra=body_of(NewAssignmentJSON),
)
async def create_assignment(request: Request, course_id: str, user: Instructor) -> AssignmentJSON:
    services = services_of(request, CourseServices)
    body = await read_json(request, NewAssignmentJSON)
    course = await services.courses.get(user, course_id)
    return AssignmentJSON.of(await services.assignments.create(course, body.terms(course)))


@router.put(
    "/courses/{course_id}/assignments/{assignment_id}",
    summary="Replace all fields of an assignment, as an instructor",
    responses=_REFUSALS,
    openapi_extra=body_of(ChangedAssignmentJSON),
)
async def change_assignment(request: Request, course_id: str, assignment_id: str, user: Instructor) -> AssignmentJSON:
    services = services_of(request, CourseServices)
    body = await read_json(request, ChangedAssignmentJSON)
    course = await services.courses.get(user, course_id)
    before = await services.courses.assignment(course, assignment_id)
    return AssignmentJSON.of(await services.assignments.change(user, course, before, body.terms(course), body.reason))


@router.delete(
    "/courses/{course_id}/assignments/{assignment_id}",
    status_code=204,
    summary="Withdraw an assignment, as an instructor",
    responses=problem_responses(401, 403, 404),
)
async def withdraw_assignment(request: Request, course_id: str, assignment_id: str, user: Instructor) -> None:
    services = services_of(request, CourseServices)
    await services.assignments.withdraw(user, await services.courses.get(user, course_id), assignment_id)


@router.get(
    "/courses/{course_id}/assignments/{assignment_id}/extensions",
    summary="Extra time and attempts at an assignment, for instructors",
    responses=problem_responses(401, 403, 404),
)
async def list_extensions(request: Request, course_id: str, assignment_id: str, user: Instructor) -> ExtensionList:
    services = services_of(request, CourseServices)
    assignment = await services.courses.assignment(await services.courses.get(user, course_id), assignment_id)
    found = await services.extensions.of(assignment)
    return ExtensionList(extensions=[ExtensionJSON.of(each) for each in found])


@router.put(
    "/courses/{course_id}/assignments/{assignment_id}/extensions/{person_id}",
    status_code=204,
    summary="Give one student extra time or attempts, as an instructor",
    responses=_REFUSALS,
    openapi_extra=body_of(NewExtensionJSON),
)
async def extend_assignment(
    request: Request, course_id: str, assignment_id: str, person_id: str, user: Instructor
) -> None:
    services = services_of(request, CourseServices)
    body = await read_json(request, NewExtensionJSON)
    course = await services.courses.get(user, course_id)
    assignment = await services.courses.assignment(course, assignment_id)
    await services.extensions.extend(
        user, course, assignment, person_id, body.extra_minutes, body.extra_attempts, body.reason
    )


@router.delete(
    "/courses/{course_id}/people/{person_id}",
    status_code=204,
    summary="Remove a member from a course, as an instructor",
    responses=problem_responses(401, 403, 404),
)
async def remove_from_course(request: Request, course_id: str, person_id: str, user: Instructor) -> None:
    courses = services_of(request, CourseServices).courses
    await courses.remove(await courses.get(user, course_id), person_id)


@router.put(
    "/courses/{course_id}/people/{person_id}/role",
    status_code=204,
    summary="Make a member an assistant, who reads the gradebook of the course, or a student",
    responses=_REFUSALS,
    openapi_extra=body_of(MemberRoleJSON),
)
async def set_role_in_course(request: Request, course_id: str, person_id: str, user: Instructor) -> None:
    courses = services_of(request, CourseServices).courses
    body = await read_json(request, MemberRoleJSON)
    await courses.set_role(await courses.get(user, course_id), person_id, body.role)


@router.get(
    "/courses/{course_id}/gradebook",
    summary="The points of every student at every problem, for instructors and assistants of the course",
    response_model=GradebookPage,
    responses=problem_responses(401, 403, 404, 422),
)
async def get_gradebook(
    request: Request,
    course_id: str,
    user: Grader,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the previous page")] = None,
    q: Annotated[str, Query(max_length=100, description="A part of the name")] = "",
    missing: Annotated[bool, Query(description="Only those who lack something that has opened")] = False,
    below: Annotated[
        int | None, Query(ge=1, le=100, description="Only those with fewer percent of the points that have opened")
    ] = None,
) -> Response:
    services = services_of(request, CourseServices)
    course = await services.courses.graded(user, course_id)
    columns = columns_of(await services.courses.assignments(course))
    matching = LineFilter(q.strip(), missing, below)
    lines = await gradebook(services.database, course, columns, limit + 1, after, matching=matching)
    # Without a model for each of thousands of cells: tests/app/courses/test_gradebook.py compares it with the model.
    return JSONResponse(gradebook_json(columns, lines[:limit], lines[limit - 1].name if len(lines) > limit else None))
