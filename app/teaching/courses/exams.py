"""Which attempts an exam hides, and until when: the only writer of these rows. Also whether an exam is open for a
student.

An exam closes when it is due, or later if a student has extra time: until then no student sees a verdict, so that
those who have finished cannot tell the others.
"""

from datetime import datetime, timedelta

from sqlalchemy import String, delete, func, insert, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database, UTCDateTime
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import WithheldRow
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, ExtensionRow, MemberRow
from app.teaching.courses.service import Assignment


async def closes_for_all(session: AsyncSession, assignment_id: str, due_at: datetime) -> datetime:
    """When the last student's time is over."""
    longest = select(func.max(ExtensionRow.extra_minutes)).where(ExtensionRow.assignment_id == assignment_id)
    return due_at + timedelta(minutes=await session.scalar(longest) or 0)


class OpenExams:
    """The `Exams` of app/problems/exams.py. Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_until(self, user: User | None, problem: str) -> datetime | None:
        if user is None or user.role != "student" or user.guest is not None:
            return None
        row, moment = AssignmentRow, now()
        query = (
            select(row.id, row.due_at)
            .join(AssignmentProblemRow, AssignmentProblemRow.assignment_id == row.id)
            .join(MemberRow, MemberRow.course_id == row.course_id)
            .where(
                MemberRow.user_id == user.id,
                MemberRow.role == "student",
                AssignmentProblemRow.problem == problem,
                row.is_exam,
                row.opens_at <= moment,
            )
        )
        async with self._database.reading() as session:
            exams = (await session.execute(query)).all()
            closing = [await closes_for_all(session, *each) for each in exams]
        return max((each for each in closing if moment <= each), default=None)


async def show_again(session: AsyncSession, assignment_id: str) -> None:
    await session.execute(delete(WithheldRow).where(WithheldRow.assignment_id == assignment_id))


async def withhold(session: AsyncSession, assignment: Assignment, course_id: str) -> None:
    """Hide exactly the attempts that this assignment hides now. To be called after each change of it."""
    await show_again(session, assignment.id)
    if not assignment.is_exam:
        return
    until = await closes_for_all(session, assignment.id, assignment.due_at)
    row = AttemptRow
    sent = (
        select(
            row.id,
            literal(assignment.id, String(32)),
            row.user_id,
            row.problem,
            literal(until, UTCDateTime()),
        )
        .join(MemberRow, MemberRow.user_id == row.user_id)
        .join(UserRow, UserRow.id == row.user_id)
        .where(
            MemberRow.course_id == course_id,
            MemberRow.role == "student",
            UserRow.role == "student",
            row.kind == "attempt",
            row.problem.in_([each.problem for each in assignment.problems]),
            row.created_at.between(assignment.opens_at, until),
        )
    )
    names = ["attempt_id", "assignment_id", "user_id", "problem", "until"]
    await session.execute(insert(WithheldRow).from_select(names, sent))
