"""How many assignments of each course are open to a reader, for a list of courses: one query for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, func, select

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database
from app.teaching.courses.due_dates import is_over
from app.teaching.courses.models import AssignmentRow, ExtensionRow
from app.teaching.courses.service import Course
from app.teaching.courses.student_dates import DUE_AT, OPENS_AT, join_section


@dataclass(frozen=True, slots=True)
class OpenWork:
    """The assignments of a course that are open, and when the next of them is due."""

    assignments: int
    exams: int
    next_due: datetime


class OpenAssignments:
    """Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_course(self, user: User, courses: Sequence[Course]) -> dict[str, OpenWork]:
        """By the id of the course, by the dates of the user. Courses in which nothing is open are left out."""
        row, extension, moment = AssignmentRow, ExtensionRow, now()
        extra = func.coalesce(extension.extra_minutes, 0)
        query = select(row.course_id, row.is_exam, DUE_AT, extra).select_from(row)
        query = join_section(query, user.id).outerjoin(
            extension, and_(extension.assignment_id == row.id, extension.user_id == user.id)
        )
        running = [each.id for each in courses if each.archived_at is None]
        open_in: dict[str, list[tuple[datetime, bool]]] = {}
        async with self._database.reading() as session:
            found = await session.execute(query.where(row.course_id.in_(running), moment >= OPENS_AT))
            for course_id, is_exam, due_at, minutes in found:
                due = due_at + timedelta(minutes=minutes)
                if not is_over(due, moment):
                    open_in.setdefault(course_id, []).append((due, is_exam))
        return {
            course_id: OpenWork(len(each), sum(is_exam for _, is_exam in each), min(each)[0])
            for course_id, each in open_in.items()
        }
