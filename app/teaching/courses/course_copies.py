"""Copies a course to the next term: what is due, by what rules, on other days, and nobody and nothing that was sent."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_DETAIL, record
from app.accounts.caller import User
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Base, Database
from app.core.errors import FieldInvalid
from app.core.ids import new_id
from app.problems.models import CourseProblemRow
from app.teaching.courses.due_dates import days_after, to_local
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, CategoryRow, CourseRow, SectionDatesRow
from app.teaching.courses.service import LONGEST_NAME, Course, Courses, new_join_code
from app.teaching.courses.staff import add_instructor_in

# Days that exist, so that the description of REST promises no more than what is accepted. They end ten years before the
# last deadline that a course can have.
DATE_PATTERN = (
    "^(20[0-8][0-9]-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
    "|20([02468][048]|[1357][26])-02-29)$"
)
_LAST_YEAR = 2099


@dataclass(frozen=True, slots=True)
class CopiedDates:
    """The times of an assignment, or of a section at it, in the copy, and what it had before."""

    name: str
    opened_at: datetime
    was_due_at: datetime
    opens_at: datetime
    due_at: datetime


@dataclass(frozen=True, slots=True)
class CopiedAssignment(CopiedDates):
    """`sections` have dates of their own, by section."""

    sections: tuple[CopiedDates, ...] = ()


class CourseCopies:
    """Safe to share between requests. The routes check that the caller teaches the course."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def preview(self, course: Course, opens: str) -> list[CopiedAssignment]:
        """The assignments of a copy whose first one opens on the day `opens`, by deadline.

        Raises:
          FieldInvalid: it is not a day, or an assignment would be due after 2099.
        """
        async with self._database.reading() as session:
            rows = await _assignments(session, course)
            sections = await _sections(session, course)
        shift = _Shift.to_day(course, rows, sections, opens)
        return [
            CopiedAssignment(
                each.name,
                *shift.dates(each),
                tuple(CopiedDates(it.section, *shift.dates(it)) for it in sections if it.assignment_id == each.id),
            )
            for each in rows
        ]

    async def copy(self, user: User, course: Course, name: str, opens: str) -> Course:
        """A course that the user teaches, with the assignments, categories and problems of this one. Dates of sections
        wait for a roster that has these sections. A password of an exam is not copied. Raises what `preview` raises.
        """
        new = CourseRow(
            id=new_id(),
            name=check_line("name", name, LONGEST_NAME),
            time_zone=course.time_zone,
            join_code=new_join_code(),
            created_at=now(),
        )
        async with self._database.writing() as session:
            rows, sections = await _assignments(session, course), await _sections(session, course)
            shift = _Shift.to_day(course, rows, sections, opens)
            session.add(new)
            await session.flush()
            await add_instructor_in(session, new.id, user.id)
            await _copy_rows(session, CategoryRow, course, course_id=new.id)
            for row in await _copy_rows(session, CourseProblemRow, course, course_id=new.id):
                row.visible_from = shift.opening(row.visible_from)
            for each in rows:
                values = {"id": new_id(), "course_id": new.id, "password_hash": None, **shift.times(each)}
                copied = _copy_of(each, **values)
                session.add(copied)
                await session.flush()
                within = select(AssignmentProblemRow).where(AssignmentProblemRow.assignment_id == each.id)
                session.add_all([_copy_of(it, assignment_id=copied.id) for it in await session.scalars(within)])
                of_sections = [it for it in sections if it.assignment_id == each.id]
                session.add_all([_copy_of(it, assignment_id=copied.id, **shift.times(it)) for it in of_sections])
            record(session, user, "course-copied", None, "", f"{course.name} to {new.name}"[:LONGEST_DETAIL], course.id)
        return Courses.view(new)


@dataclass(frozen=True, slots=True)
class _Shift:
    """By how many days of the calendar a copy is later: 23:59 stays 23:59, even if the clocks change in between."""

    days: int
    zone: str

    @classmethod
    def to_day(cls, course: Course, rows: list[AssignmentRow], sections: list[SectionDatesRow], opens: str) -> "_Shift":
        day = _read_day(opens)
        zone = course.time_zone
        if not rows:
            return cls(0, zone)
        days = (day - to_local(min(each.opens_at for each in rows), zone).date()).days
        deadlines = [each.due_at for each in rows] + [each.due_at for each in sections]
        latest = max(to_local(each, zone).date() for each in deadlines)
        if latest.toordinal() + days > date(_LAST_YEAR, 12, 31).toordinal():
            raise FieldInvalid(f"opens: the last assignment would be due after {_LAST_YEAR}. Choose an earlier day.")
        return cls(days, zone)

    def times(self, row: AssignmentRow | SectionDatesRow) -> dict[str, datetime]:
        return {"opens_at": self.opening(row.opens_at), "due_at": self.deadline(row.due_at)}

    def dates(self, row: AssignmentRow | SectionDatesRow) -> tuple[datetime, datetime, datetime, datetime]:
        """Those that it has, then those of the copy."""
        return row.opens_at, row.due_at, self.opening(row.opens_at), self.deadline(row.due_at)

    def opening(self, moment: datetime) -> datetime:
        return days_after(moment, self.days, self.zone, is_due=False)

    def deadline(self, moment: datetime) -> datetime:
        return days_after(moment, self.days, self.zone, is_due=True)


def suggested_day(course: Course, first_opens_at: datetime | None) -> str:
    """A year of whole weeks after the first assignment opened, so that it opens on the same day of the week."""
    start = to_local(first_opens_at or now(), course.time_zone).date()
    return (start + timedelta(weeks=52)).isoformat()


def _read_day(text: str) -> date:
    if not re.fullmatch(DATE_PATTERN, text):
        raise FieldInvalid("opens: give a day such as 2027-02-01, before 2090.")
    return date.fromisoformat(text)


async def _assignments(session: AsyncSession, course: Course) -> list[AssignmentRow]:
    rows = select(AssignmentRow).where(AssignmentRow.course_id == course.id)
    return list(await session.scalars(rows.order_by(AssignmentRow.due_at, AssignmentRow.id)))


async def _sections(session: AsyncSession, course: Course) -> list[SectionDatesRow]:
    row = SectionDatesRow
    query = select(row).join(AssignmentRow, AssignmentRow.id == row.assignment_id).order_by(row.section)
    return list(await session.scalars(query.where(AssignmentRow.course_id == course.id)))


async def _copy_rows(session: AsyncSession, table: Any, course: Course, **values: Any) -> list[Any]:
    copies = [
        _copy_of(each, **values) for each in await session.scalars(select(table).where(table.course_id == course.id))
    ]
    session.add_all(copies)
    return copies


def _copy_of(row: Base, **values: Any) -> Any:
    """A row with the columns of this one, except for `values`. So a rule that is added later is copied too."""
    columns = {each.key: getattr(row, each.key) for each in row.__table__.columns}
    return type(row)(**columns | values)
