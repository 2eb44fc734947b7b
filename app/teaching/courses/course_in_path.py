"""The course that an address names, as a parameter of routes: for those who may see, teach or grade it or have a right.

Every route of a course has one of these, or another that has one. A course of others does not exist: each of these
raises `CourseNotFound` for it. Someone who is in the course and may not do this is refused with 403.

Put it before a body, which is then read only for them.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Query

from app.accounts.web import Grader, Instructor, Reader
from app.core.errors import RoleMissing
from app.core.services import Provided
from app.teaching.courses.rights import RIGHT_MEANINGS, Right
from app.teaching.courses.service import Course, Courses
from app.teaching.courses.staff import manages

CourseId = Annotated[str | None, Query(max_length=32, description="Only students of this course")]


async def joined_course(course_id: str, user: Reader, courses: Provided[Courses]) -> Course:
    return await courses.get(user, course_id)


async def taught_course(course_id: str, user: Instructor, courses: Provided[Courses]) -> Course:
    return await courses.taught(user, course_id)


async def graded_course(course_id: str, user: Grader, courses: Provided[Courses]) -> Course:
    return await courses.allowed(user, course_id, None)


def course_with(right: Right) -> Callable[..., Awaitable[Course]]:
    """A dependency: the course, for its instructors and for those of its assistants who have this right."""

    async def allowed(course_id: str, user: Grader, courses: Provided[Courses]) -> Course:
        return await courses.allowed(user, course_id, right)

    allowed.__name__ = f"course_with_{right}"
    return allowed


def chosen_course_with(right: Right) -> Callable[..., Awaitable[Course | None]]:
    """A dependency of routes about a problem: the course that the parameter `course` names, as `course_with` has it.

    Without the parameter, an instructor gets None, for the students of all courses. For an assistant, the problem must
    be in an assignment of the course.
    """

    async def chosen(slug: str, user: Grader, courses: Provided[Courses], course: CourseId = None) -> Course | None:
        if not course:
            if not manages(user):
                raise RoleMissing(
                    f"Only instructors can {RIGHT_MEANINGS[right]}, of all students. Assistants of a course with the "
                    f"right {right!r} name the course: add ?course= and its id to the address."
                )
            return None
        of = await courses.allowed(user, course, right)
        if not of.is_taught:
            await courses.require_assigned(of, slug)
        return of

    chosen.__name__ = f"chosen_course_with_{right}"
    return chosen


JoinedCourse = Annotated[Course, Depends(joined_course)]
TaughtCourse = Annotated[Course, Depends(taught_course)]
GradedCourse = Annotated[Course, Depends(graded_course)]
CourseForSimilarity = Annotated[Course | None, Depends(chosen_course_with("similarity"))]
CourseForInsight = Annotated[Course | None, Depends(chosen_course_with("insight"))]
CourseForExtensions = Annotated[Course, Depends(course_with("extensions"))]
CourseForRoster = Annotated[Course, Depends(course_with("roster"))]
CourseForAnnouncements = Annotated[Course, Depends(course_with("announcements"))]
