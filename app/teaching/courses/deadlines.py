"""The assignments that are due soon or were due recently, of all courses that a reader teaches."""

from datetime import datetime, timedelta

from sqlalchemy import Select, func, or_, select

from app.accounts.caller import User
from app.core.clock import MINUTE, now
from app.core.database import Database
from app.core.view import View
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, CourseRow, MemberRow
from app.teaching.courses.staff import is_taught_by

SOON = timedelta(days=14)
RECENTLY = timedelta(days=7)
_MOST = 12


class Deadline(View):
    """An assignment that has opened. `submitted` counts the students who have a scored attempt at one of its problems
    since then. `problems` are slugs, in the order of the assignment.
    """

    course_id: str
    course: str
    assignment_id: str
    name: str
    due_at: datetime
    students: int
    submitted: int
    problems: list[str]


class Deadlines:
    """Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def near(self, reader: User) -> list[Deadline]:
        """Those due within 14 days, then those due within the last 7, at most twelve. An assistant gets those of the
        courses that they assist. Three queries.
        """
        moment, row = now(), AssignmentRow
        query = (
            select(row, CourseRow.name)
            .join(CourseRow, CourseRow.id == row.course_id)
            .where(CourseRow.archived_at.is_(None))
            .where(row.opens_at <= moment, row.due_at > moment - RECENTLY, row.due_at <= moment + SOON)
            .order_by(row.due_at <= moment - MINUTE, row.due_at, row.id)
            .limit(_MOST)
        )
        if reader.role != "owner":
            query = query.where(or_(is_taught_by(reader), row.course_id.in_(_assisted(reader))))
        async with self._database.reading() as session:
            found = (await session.execute(query)).all()
            ids = [each.id for each, _ in found]
            problems: dict[str, list[str]] = {each: [] for each in ids}
            within = select(AssignmentProblemRow.assignment_id, AssignmentProblemRow.problem)
            within = within.where(AssignmentProblemRow.assignment_id.in_(ids)).order_by(AssignmentProblemRow.position)
            for assignment_id, problem in await session.execute(within):
                problems[assignment_id].append(problem)
            counts = {each[0]: (each[1], each[2]) for each in await session.execute(_counts(ids))}
        return [
            Deadline.read_from(
                each,
                course=course,
                assignment_id=each.id,
                students=counts.get(each.id, (0, 0))[0],
                submitted=counts.get(each.id, (0, 0))[1],
                problems=problems[each.id],
            )
            for each, course in found
        ]


def _assisted(reader: User) -> Select[str]:
    return select(MemberRow.course_id).where(MemberRow.user_id == reader.id, MemberRow.role == "assistant")


def _counts(ids: list[str]) -> Select[str, int, int]:
    """Of each assignment: the students of its course, and those with an attempt that counts."""
    row, within, assignment = AttemptRow, AssignmentProblemRow, AssignmentRow
    return (
        select(assignment.id, func.count(MemberRow.user_id.distinct()), func.count(row.user_id.distinct()))
        .join(MemberRow, MemberRow.course_id == assignment.course_id)
        .join(within, within.assignment_id == assignment.id)
        .outerjoin(
            row,
            (row.user_id == MemberRow.user_id)
            & (row.problem == within.problem)
            & (row.created_at >= assignment.opens_at)
            & IS_SCORED,
        )
        .where(assignment.id.in_(ids), MemberRow.role == "student")
        .group_by(assignment.id)
    )
