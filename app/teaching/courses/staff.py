"""Who teaches a course. The only writer of that table."""

from datetime import datetime

from sqlalchemy import ColumnElement, delete, exists, false, func, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_DETAIL, record
from app.accounts.caller import User, user_of
from app.accounts.models import UserRow
from app.accounts.roles import is_at_least
from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.errors import PersonNotFound
from app.core.ids import is_id
from app.core.view import View
from app.teaching.courses.errors import LastInstructor
from app.teaching.courses.models import CourseRow, StaffRow


class CourseInstructor(View):
    """Someone who teaches a course."""

    id: str
    name: str
    added_at: datetime


def manages(user: User) -> bool:
    """Whether the user may create courses, and teach those whose staff they belong to: instructors and owners."""
    return is_at_least(user.role, "instructor")


def is_taught_by(user: User) -> ColumnElement[bool]:
    """A condition on `CourseRow`: the user teaches it. Owners teach every course, and instructors those whose staff
    they belong to and those without staff.
    """
    if user.role == "owner":
        return true()
    if not manages(user):
        return false()
    of_course = StaffRow.course_id == CourseRow.id
    return or_(exists().where(of_course, StaffRow.user_id == user.id), ~exists().where(of_course))


async def add_instructor_in(session: AsyncSession, course_id: str, user_id: str) -> bool:
    """In the caller's transaction. `False` if they teach it already."""
    values = {"course_id": course_id, "user_id": user_id, "role": "instructor", "added_at": now()}
    insert = insert_into(session, StaffRow).values(values).on_conflict_do_nothing()
    return await session.scalar(insert.returning(StaffRow.user_id)) is not None


class CourseStaff:
    """Safe to share between requests. The routes check that the caller teaches the course."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, course_id: str) -> list[CourseInstructor]:
        """By name."""
        query = (
            select(UserRow.id, UserRow.name, StaffRow.added_at)
            .join(StaffRow, StaffRow.user_id == UserRow.id)
            .where(StaffRow.course_id == course_id)
            .order_by(UserRow.name)
        )
        async with self._database.reading() as session:
            return [CourseInstructor.of(each) for each in await session.execute(query)]

    async def add(self, user: User, course_id: str, course: str, name: str) -> CourseInstructor:
        """Add the account with this name. Adding someone again changes nothing.

        Raises:
          PersonNotFound: no instructor or owner has this name.
        """
        async with self._database.writing() as session:
            row = await session.scalar(select(UserRow).where(UserRow.name == name.strip().replace("\0", "")))
            if row is None or not manages(user_of(row)) or row.deactivated_at is not None:
                raise PersonNotFound(
                    f"No instructor has the name {name[:64]!r}. An owner gives an account the role instructor."
                )
            if await add_instructor_in(session, course_id, row.id):
                record(session, user, "course-staff-added", row.id, "", course[:LONGEST_DETAIL], course_id)
            staff = await session.get_one(StaffRow, (course_id, row.id))
        return CourseInstructor(id=row.id, name=row.name, added_at=staff.added_at)

    async def remove(self, user: User, course_id: str, course: str, person_id: str) -> None:
        """Raises `PersonNotFound`, and `LastInstructor` because all instructors would then see the course."""
        row = StaffRow
        async with self._database.writing() as session:
            # Locked, so that the last two do not remove each other.
            await session.get(CourseRow, course_id, with_for_update=True)
            found = await session.get(row, (course_id, person_id)) if is_id(person_id) else None
            if found is None:
                raise PersonNotFound(f"No instructor of this course has the id {person_id[:64]!r}.")
            number = select(func.count()).select_from(row).where(row.course_id == course_id)
            if await session.scalar(number) == 1:
                raise LastInstructor("This is the only instructor of the course. Add another one first.")
            await session.execute(delete(row).where(row.course_id == course_id, row.user_id == person_id))
            record(session, user, "course-staff-removed", person_id, "", course[:LONGEST_DETAIL], course_id)
