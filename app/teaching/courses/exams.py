"""Which attempts an exam hides, and until when: the only writer of these rows. Also whether an exam is open for a
student.

An exam closes when it is due, or later if a section has later dates or a student has extra time: until then no student
sees a verdict, so that those who have finished cannot tell the others.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, String, and_, delete, func, insert, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import end_of_minute, now
from app.core.database import Database, UTCDateTime
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import WithheldRow
from app.problems.exams import OpenExam, all_of
from app.teaching.courses.due_dates import is_over
from app.teaching.courses.exam_access import ends_at
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, ExamStartRow, ExtensionRow, MemberRow
from app.teaching.courses.service import Assignment, parts_of
from app.teaching.courses.student_dates import DUE_AT, OPENS_AT, first_opening, has_opened, join_section, last_deadline


class OpenExams:
    """The `Exams` of app/problems/exams.py. Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, user: User | None, problem: str) -> OpenExam | None:
        """Those of the user, and those that close the problem to everyone but staff and assistants of their course."""
        of_problem = AssignmentRow.id.in_(
            select(AssignmentProblemRow.assignment_id).where(AssignmentProblemRow.problem == problem)
        )
        for_everyone = and_(AssignmentRow.closed_for == "everyone", MemberRow.role.is_(None))
        return await self._open(user, of_problem, or_(MemberRow.role == "student", for_everyone))

    async def without_explorer(self, user: User | None) -> OpenExam | None:
        if user is None or user.guest is not None:
            return None
        return await self._open(user, AssignmentRow.closes.contains("explorer"), MemberRow.role == "student")

    async def _open(self, user: User | None, *conditions: ColumnElement[bool]) -> OpenExam | None:
        if user is not None and user.role != "student":
            return None
        row, moment = AssignmentRow, now()
        user_id = user.id if user else ""
        start, extension = ExamStartRow, ExtensionRow
        query = (
            select(row, MemberRow.role, DUE_AT, start.started_at, func.coalesce(extension.extra_minutes, 0))
            .outerjoin(MemberRow, and_(MemberRow.course_id == row.course_id, MemberRow.user_id == user_id))
            .outerjoin(start, and_(start.assignment_id == row.id, start.user_id == user_id))
            .outerjoin(extension, and_(extension.assignment_id == row.id, extension.user_id == user_id))
            .where(
                row.is_exam,
                # For those outside the course, it is open once it is for a section.
                or_(
                    and_(MemberRow.role.is_not(None), moment >= OPENS_AT),
                    and_(MemberRow.role.is_(None), has_opened(moment)),
                ),
                *conditions,
            )
        )
        query = join_section(query, user_id)
        async with self._database.reading() as session:
            exams = (await session.execute(query)).all()
            closing = [(await last_deadline(session, each.id, each.due_at), each, *rest) for each, *rest in exams]
        return all_of(
            OpenExam(
                end_of_minute(until),
                parts=parts,
                is_yours=role is not None,
                your_end=_end_of(each, due_at, extra_minutes, started_at) if role == "student" else None,
                href=f"/courses/{each.course_id}/assignments/{each.id}/exam" if role == "student" else "",
            )
            for until, each, role, due_at, started_at, extra_minutes in closing
            if not is_over(until, moment) and (parts := parts_of(each.closes))
        )


def _end_of(exam: AssignmentRow, due_at: datetime, extra_minutes: int, started_at: datetime | None) -> datetime | None:
    """None while the student has yet to start it."""
    if exam.duration_minutes is None:
        return ends_at(due_at, None, extra_minutes, due_at)
    return None if started_at is None else ends_at(due_at, exam.duration_minutes, extra_minutes, started_at)


async def show_again(session: AsyncSession, assignment_id: str) -> None:
    await session.execute(delete(WithheldRow).where(WithheldRow.assignment_id == assignment_id))


async def withhold(session: AsyncSession, assignment: Assignment, course_id: str) -> None:
    """Hide exactly the attempts that this assignment hides now. To be called after each change of it."""
    await show_again(session, assignment.id)
    if not assignment.is_exam:
        return
    until = await last_deadline(session, assignment.id, assignment.due_at)
    opens_at = await first_opening(session, assignment.id, assignment.opens_at)
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
            row.created_at >= opens_at,
            row.created_at < end_of_minute(until),
        )
    )
    names = ["attempt_id", "assignment_id", "user_id", "problem", "until"]
    await session.execute(insert(WithheldRow).from_select(names, sent))
