"""More time or more attempts for one student at one assignment: the only writer of that table."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field
from sqlalchemy import and_, delete, select

from app.accounts.audit.log import LONGEST_DETAIL, LONGEST_REASON, record
from app.accounts.caller import User
from app.accounts.models import UserRow
from app.accounts.text_rules import check_line
from app.core.database import Database
from app.core.errors import FieldInvalid, PersonNotFound
from app.core.ids import is_id
from app.core.rest.paging import Cursor, Page, paged
from app.core.view import View
from app.teaching.courses.exams import withhold
from app.teaching.courses.models import AssignmentRow, ExtensionRow, MemberRow, RosterLineRow
from app.teaching.courses.roster_lines import is_named
from app.teaching.courses.service import Assignment, Course

MOST_EXTRA_MINUTES = 60 * 24 * 365
MOST_EXTRA_ATTEMPTS = 1000


class Extension(View):
    user_id: Annotated[str, Field(serialization_alias="person")]
    name: str
    extra_minutes: int
    extra_attempts: int
    reason: str

    @property
    def extra_time(self) -> timedelta:
        return timedelta(minutes=self.extra_minutes)


class Extensions:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, course: Course, assignment: Assignment, cursor: Cursor, q: str = "") -> Page[Extension]:
        """By name. `q` is a part of the name, or of what the roster says of the student."""
        row, line = ExtensionRow, RosterLineRow
        query = (
            select(row.user_id, UserRow.name, row.extra_minutes, row.extra_attempts, row.reason)
            .join(UserRow, UserRow.id == row.user_id)
            .outerjoin(line, and_(line.user_id == row.user_id, line.course_id == course.id))
            .where(row.assignment_id == assignment.id)
        )
        async with self._database.reading() as session:
            return await paged(session, query, (UserRow.name,), cursor, Extension.of_columns, only=is_named(q))

    async def of_student(self, course: Course, user: User) -> dict[str, Extension]:
        """A student's own, by the id of the assignment."""
        row = ExtensionRow
        query = (
            select(row)
            .join(AssignmentRow, AssignmentRow.id == row.assignment_id)
            .where(AssignmentRow.course_id == course.id, row.user_id == user.id)
        )
        async with self._database.reading() as session:
            rows = list(await session.scalars(query))
        return {each.assignment_id: Extension.read_from(each, user_id=user.id, name=user.name) for each in rows}

    async def extend(
        self,
        user: User,
        course: Course,
        assignment: Assignment,
        person_id: str,
        extra_minutes: int,
        extra_attempts: int,
        reason: str,
    ) -> None:
        """Replace what the student has. Zero of each takes it back. An exam then closes for everyone accordingly.

        Raises:
          FieldInvalid, PersonNotFound.
        """
        reason = check_line("reason", reason, LONGEST_REASON)
        if not 0 <= extra_minutes <= MOST_EXTRA_MINUTES:
            raise FieldInvalid(f"extra_minutes: give 0 to {MOST_EXTRA_MINUTES} minutes.")
        if not 0 <= extra_attempts <= MOST_EXTRA_ATTEMPTS:
            raise FieldInvalid(f"extra_attempts: give 0 to {MOST_EXTRA_ATTEMPTS} attempts.")
        row = ExtensionRow
        async with self._database.writing() as session:
            member = await session.get(MemberRow, (course.id, person_id)) if is_id(person_id) else None
            if member is None or member.role != "student":
                raise PersonNotFound(f"No student of this course has the id {person_id[:64]!r}.")
            key = (row.assignment_id == assignment.id, row.user_id == person_id)
            await session.execute(delete(row).where(*key))
            if extra_minutes or extra_attempts:
                session.add(
                    ExtensionRow(
                        assignment_id=assignment.id,
                        user_id=person_id,
                        extra_minutes=extra_minutes,
                        extra_attempts=extra_attempts,
                        reason=reason,
                    )
                )
            await session.flush()
            await withhold(session, assignment, course.id)
            detail = f"{assignment.name} of {course.name}: {extra_minutes} min and {extra_attempts} attempts more"
            record(session, user, "assignment-extended", person_id, reason, detail[:LONGEST_DETAIL], course.id)
