"""When an assignment opens and is due for one student: the dates of their section, and an extension on top.

Without dates for the section, those of the assignment hold. The section is the one in the roster of the course.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, and_, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.teaching.courses.models import AssignmentRow, ExtensionRow, RosterLineRow, SectionDatesRow
from app.teaching.courses.service import Assignment

_NO_TIME = timedelta(0)
# For a query that `join_section` joined: what holds for the student, before an extension.
OPENS_AT = func.coalesce(SectionDatesRow.opens_at, AssignmentRow.opens_at)
DUE_AT = func.coalesce(SectionDatesRow.due_at, AssignmentRow.due_at)


@dataclass(frozen=True, slots=True)
class StudentDates:
    """The dates in a course. `sections` are by assignment and section, and `extra` by student and assignment."""

    sections: dict[tuple[str, str], tuple[datetime, datetime]] = field(default_factory=dict)
    section_of: dict[str, str] = field(default_factory=dict)
    extra: dict[tuple[str, str], timedelta] = field(default_factory=dict)

    def of(self, assignment: Assignment, user_id: str) -> tuple[datetime, datetime]:
        """When it opens and when it is due for this student."""
        section = self.section_of.get(user_id, "")
        dates = (assignment.opens_at, assignment.due_at)
        opens_at, due_at = self.sections.get((assignment.id, section), dates)
        return opens_at, due_at + self.extra.get((user_id, assignment.id), _NO_TIME)

    def span(self, assignment: Assignment) -> tuple[datetime, datetime]:
        """When it opens for the first student, and when it is due for the last."""
        sections = [dates for (each, _), dates in self.sections.items() if each == assignment.id]
        extended = [self.of(assignment, user_id)[1] for user_id, each in self.extra if each == assignment.id]
        opens = [assignment.opens_at, *(opens_at for opens_at, _ in sections)]
        return min(opens), max([assignment.due_at, *(due_at for _, due_at in sections), *extended])

    def has_sections(self, assignment_id: str) -> bool:
        return any(each == assignment_id for each, _ in self.sections)


async def read_dates(session: AsyncSession, course_id: str, user_id: str | None = None) -> StudentDates:
    """Those of all students of a course, or of one."""
    dates, line, extension = SectionDatesRow, RosterLineRow, ExtensionRow
    sections = (
        select(dates.assignment_id, dates.section, dates.opens_at, dates.due_at)
        .join(AssignmentRow, AssignmentRow.id == dates.assignment_id)
        .where(AssignmentRow.course_id == course_id)
    )
    extended = (
        select(extension.user_id, extension.assignment_id, extension.extra_minutes)
        .join(AssignmentRow, AssignmentRow.id == extension.assignment_id)
        .where(AssignmentRow.course_id == course_id)
    )
    within = select(line.user_id, line.section).where(line.course_id == course_id, line.section != "")
    if user_id is not None:
        extended, within = extended.where(extension.user_id == user_id), within.where(line.user_id == user_id)
    found = {(each[0], each[1]): (each[2], each[3]) for each in await session.execute(sections)}
    return StudentDates(
        sections=found,
        section_of={who: each for who, each in await session.execute(within) if who} if found else {},
        extra={(each[0], each[1]): timedelta(minutes=each[2]) for each in await session.execute(extended)},
    )


def join_section(query: Any, user_id: str | BindParameter[str]) -> Any:
    """A query of assignments, with the dates of the section that the student is in, if it has any."""
    line, dates = RosterLineRow, SectionDatesRow
    return query.outerjoin(
        line, and_(line.course_id == AssignmentRow.course_id, line.user_id == user_id, line.section != "")
    ).outerjoin(dates, and_(dates.assignment_id == AssignmentRow.id, dates.section == line.section))


async def dates_in_section(session: AsyncSession, assignment: Assignment, user_id: str) -> tuple[datetime, datetime]:
    """When it opens and when it is due for this student, before an extension."""
    query = select(OPENS_AT, DUE_AT).select_from(AssignmentRow).where(AssignmentRow.id == assignment.id)
    found = (await session.execute(join_section(query, user_id))).first()
    return (assignment.opens_at, assignment.due_at) if found is None else (found[0], found[1])


def has_opened(moment: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    """For a query of assignments: whether it has opened for a section, or for those in none."""
    dates = SectionDatesRow.__table__.alias()
    return or_(
        AssignmentRow.opens_at <= moment,
        exists().where(dates.c.assignment_id == AssignmentRow.id, dates.c.opens_at <= moment),
    )


async def first_opening(session: AsyncSession, assignment_id: str, opens_at: datetime) -> datetime:
    """When the assignment opens for the first section."""
    dates = SectionDatesRow
    first = await session.scalar(select(func.min(dates.opens_at)).where(dates.assignment_id == assignment_id))
    return opens_at if first is None else min(opens_at, first)


async def last_deadline(session: AsyncSession, assignment_id: str, due_at: datetime) -> datetime:
    """The last minute of the student who has the most time."""
    row, line, dates = ExtensionRow, RosterLineRow, SectionDatesRow
    latest = await session.scalar(select(func.max(dates.due_at)).where(dates.assignment_id == assignment_id))
    extended = (
        select(row.extra_minutes, dates.due_at)
        .join(AssignmentRow, AssignmentRow.id == row.assignment_id)
        .outerjoin(line, and_(line.course_id == AssignmentRow.course_id, line.user_id == row.user_id))
        .outerjoin(dates, and_(dates.assignment_id == row.assignment_id, dates.section == line.section))
        .where(row.assignment_id == assignment_id)
    )
    of_students = [
        (of_section or due_at) + timedelta(minutes=minutes) for minutes, of_section in await session.execute(extended)
    ]
    return max(due_at, latest or due_at, *of_students)
