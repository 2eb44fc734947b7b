"""The course that a path names, as a parameter of routes, for those who may see, teach or grade it.

Put it before a body, which is then read only for them.
"""

from typing import Annotated

from fastapi import Depends

from app.accounts.web import Grader, Instructor, Reader
from app.core.services import Provided
from app.teaching.courses.service import Course, Courses


async def _joined(course_id: str, user: Reader, courses: Provided[Courses]) -> Course:
    return await courses.get(user, course_id)


async def _taught(course_id: str, user: Instructor, courses: Provided[Courses]) -> Course:
    return await courses.get(user, course_id)


async def _graded(course_id: str, user: Grader, courses: Provided[Courses]) -> Course:
    return await courses.graded(user, course_id)


JoinedCourse = Annotated[Course, Depends(_joined)]
TaughtCourse = Annotated[Course, Depends(_taught)]
GradedCourse = Annotated[Course, Depends(_graded)]
