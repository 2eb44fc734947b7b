"""Other dates of an assignment for the students of one section: the only writer of that table."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_DETAIL, check_reason, record
from app.accounts.caller import User
from app.core.database import Database
from app.core.errors import FieldInvalid
from app.teaching.courses.due_dates import written_local
from app.teaching.courses.errors import AssignmentInvalid
from app.teaching.courses.exams import withhold
from app.teaching.courses.models import RosterLineRow, SectionDatesRow
from app.teaching.courses.service import Assignment, Course
from app.teaching.courses.student_dates import read_dates

Dates = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class SectionDate:
    section: str
    opens_at: datetime
    due_at: datetime


class SectionDates:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, assignment: Assignment) -> list[SectionDate]:
        """By section."""
        row = SectionDatesRow
        query = select(row).where(row.assignment_id == assignment.id).order_by(row.section)
        async with self._database.reading() as session:
            return [SectionDate(each.section, each.opens_at, each.due_at) for each in await session.scalars(query)]

    async def sections(self, course: Course) -> list[str]:
        """Those of the roster, by name."""
        async with self._database.reading() as session:
            return await _sections(session, course)

    async def for_student(self, course: Course, user: User, assignments: list[Assignment]) -> list[Assignment]:
        """The assignments with the dates of the student's section. Extensions come on top."""
        if course.is_taught:
            return assignments
        async with self._database.reading() as session:
            dates = replace(await read_dates(session, course.id, user.id), extra={})
        found = []
        for each in assignments:
            opens_at, due_at = dates.of(each, user.id)
            found.append(replace(each, opens_at=opens_at, due_at=due_at))
        return found

    async def change(
        self, user: User, course: Course, assignment: Assignment, changes: Mapping[str, Dates | None], reason: str = ""
    ) -> None:
        """Give these sections other dates, or the assignment's where it is None. An exam then closes accordingly.

        Raises:
          FieldInvalid: nobody is in such a section.
          AssignmentInvalid: it would be due before it opens.
        """
        reason = check_reason(reason)
        async with self._database.writing() as session:
            known = await _sections(session, course)
            words = [await _write(session, course, assignment, known, *each) for each in changes.items()]
            if any(words):
                await session.flush()
                await withhold(session, assignment, course.id)
                detail = f"{assignment.name} of {course.name}: {'; '.join(each for each in words if each)}"
                record(session, user, "assignment-changed", None, reason, detail[:LONGEST_DETAIL], course.id)


async def _write(
    session: AsyncSession, course: Course, assignment: Assignment, known: list[str], section: str, dates: Dates | None
) -> str:
    """What changed, in words for the audit log. Empty if nothing did."""
    row = await session.get(SectionDatesRow, (assignment.id, section), with_for_update=True)
    if dates is None:
        if row is not None:
            await session.delete(row)
        return f"section {section} as all others" if row else ""
    if section not in known:
        choice = f"It has {', '.join(known)}." if known else "It has none: import a roster with sections first."
        raise FieldInvalid(f"section: nobody in the roster of this course is in {section[:60]!r}. {choice}"[:500])
    opens_at, due_at = dates
    if due_at <= opens_at:
        raise AssignmentInvalid(f"due: must be after opens, for the section {section!r}.")
    if row is not None and (row.opens_at, row.due_at) == dates:
        return ""
    if row is None:
        row = SectionDatesRow(assignment_id=assignment.id, section=section)
        session.add(row)
    row.opens_at, row.due_at = dates
    opens, due = (written_local(each, course.time_zone) for each in dates)
    return f"section {section} opens {opens}, due {due}"


async def _sections(session: AsyncSession, course: Course) -> list[str]:
    row = RosterLineRow
    query = select(row.section).where(row.course_id == course.id, row.section != "").distinct().order_by(row.section)
    return list(await session.scalars(query))
