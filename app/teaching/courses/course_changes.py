"""Changes of a course itself: its name, time zone and join code, its archive, and its end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_DETAIL, Action, record
from app.accounts.caller import User
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Database
from app.problems.models import CourseProblemRow
from app.teaching.courses.due_dates import check_time_zone
from app.teaching.courses.errors import CourseNotEmpty
from app.teaching.courses.models import AssignmentRow, CourseRow, MemberRow, RosterLineRow
from app.teaching.courses.service import LONGEST_NAME, Course, Courses, new_join_code, no_course


class CourseChanges:
    """Safe to share between requests. The routes check that the caller teaches the course.

    What changes nothing leaves no entry in the audit log. Each raises `CourseNotFound` for a course that was just
    deleted.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def change(self, user: User, course: Course, name: str, time_zone: str) -> Course:
        """Every deadline stays at its moment. Raises `FieldInvalid` and `TimeZoneNotFound`."""
        name, time_zone = check_line("name", name, LONGEST_NAME), check_time_zone(time_zone)
        async with self._locked(course) as (session, row):
            pairs = [("name", row.name, name), ("time_zone", row.time_zone, time_zone)]
            changes = [f"{field} {old} to {new}" for field, old, new in pairs if old != new]
            row.name, row.time_zone = name, time_zone
            if changes:
                _note(session, user, course, "course-changed", f"{course.name}: {'; '.join(changes)}")
        return Courses.view(row)

    async def renew_join_code(self, user: User, course: Course) -> Course:
        """The old code no longer works. Those who have joined stay."""
        async with self._locked(course) as (session, row):
            row.join_code = new_join_code()
            _note(session, user, course, "course-changed", f"{course.name}: a new join code")
        return Courses.view(row)

    async def archive(self, user: User, course: Course) -> Course:
        async with self._locked(course) as (session, row):
            if row.archived_at is None:
                row.archived_at = now()
                _note(session, user, course, "course-archived", course.name)
        return Courses.view(row)

    async def open_again(self, user: User, course: Course) -> Course:
        """What was sent in the meantime then counts."""
        async with self._locked(course) as (session, row):
            if row.archived_at is not None:
                row.archived_at = None
                _note(session, user, course, "course-opened-again", course.name)
        return Courses.view(row)

    async def delete(self, user: User, course: Course) -> None:
        """Raises `CourseNotEmpty`."""
        async with self._locked(course) as (session, row):
            for table, what in (
                (MemberRow, "people"),
                (AssignmentRow, "assignments"),
                (RosterLineRow, "people on its roster"),
                (CourseProblemRow, "problems of its own"),
            ):
                if await session.scalar(select(exists().where(table.course_id == course.id))):
                    raise CourseNotEmpty(f"{course.name} has {what}. Archive the course instead, or remove them first.")
            await session.delete(row)
            _note(session, user, course, "course-deleted", course.name)

    @asynccontextmanager
    async def _locked(self, course: Course) -> AsyncIterator[tuple[AsyncSession, CourseRow]]:
        """The row of the course, in a transaction. It is locked, so that nobody joins what is being deleted."""
        async with self._database.writing() as session:
            row = await session.get(CourseRow, course.id, with_for_update=True)
            if row is None:
                raise no_course(course.id)
            yield session, row


def _note(session: AsyncSession, user: User, course: Course, action: Action, detail: str) -> None:
    record(session, user, action, None, "", detail[:LONGEST_DETAIL], course.id)
