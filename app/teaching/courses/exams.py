"""Which attempts an exam hides, and until when: the only writer of these rows. Also whether an exam is open for a
student.

An exam closes when it is due, or later if a section has later dates or a student has extra time: until then no student
sees a verdict, so that those who have finished cannot tell the others.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    String,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
)
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import end_of_minute, now
from app.core.database import Database, UTCDateTime, once, select_rows
from app.core.prepared_select import PreparedSelect
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import WithheldRow
from app.problems.exams import OpenExam, Part, all_of
from app.teaching.courses.due_dates import is_over
from app.teaching.courses.exam_access import ends_at
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, ExamStartRow, ExtensionRow, MemberRow
from app.teaching.courses.service import Assignment, parts_of
from app.teaching.courses.student_dates import DUE_AT, OPENS_AT, first_opening, has_opened, join_section, last_deadline

_USER, _MOMENT = bindparam("user_id", type_=String()), bindparam("moment", type_=UTCDateTime())


def _exams(*conditions: ColumnElement[bool]) -> Select[Any]:
    """The exams that have opened for a student, with the student's times in them."""
    row, start, extension = AssignmentRow, ExamStartRow, ExtensionRow
    query = (
        select(
            *(row.id, row.course_id, row.due_at, row.closes, row.duration_minutes),
            *(MemberRow.role, DUE_AT, start.started_at, func.coalesce(extension.extra_minutes, 0)),
        )
        .outerjoin(MemberRow, and_(MemberRow.course_id == row.course_id, MemberRow.user_id == _USER))
        .outerjoin(start, and_(start.assignment_id == row.id, start.user_id == _USER))
        .outerjoin(extension, and_(extension.assignment_id == row.id, extension.user_id == _USER))
        .where(
            row.is_exam,
            # For those outside the course, it is open once it is for a section.
            or_(
                and_(MemberRow.role.is_not(None), OPENS_AT <= _MOMENT),
                and_(MemberRow.role.is_(None), has_opened(_MOMENT)),
            ),
            *conditions,
        )
    )
    found: Select[Any] = join_section(query, _USER)
    return found


# Built once: building them takes longer than executing them, and every page of a problem needs the first.
_AT_PROBLEM = PreparedSelect(
    _exams(
        AssignmentRow.id.in_(
            select(AssignmentProblemRow.assignment_id).where(AssignmentProblemRow.problem == bindparam("problem"))
        ),
        or_(MemberRow.role == "student", and_(AssignmentRow.closed_for == "everyone", MemberRow.role.is_(None))),
    )
)
_WITHOUT_EXPLORER = PreparedSelect(_exams(AssignmentRow.closes.contains("explorer"), MemberRow.role == "student"))


class OpenExams:
    """The `Exams` of app/problems/exams.py. Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, user: User | None, problem: str) -> OpenExam | None:
        """Those of the user, and those that close the problem to everyone but staff and assistants of their course."""
        return await self._open(user, _AT_PROBLEM, problem)

    async def without_explorer(self, user: User | None) -> OpenExam | None:
        if user is None or user.guest is not None:
            return None
        return await self._open(user, _WITHOUT_EXPLORER)

    async def _open(self, user: User | None, query: PreparedSelect, problem: str | None = None) -> OpenExam | None:
        if user is not None and user.role != "student":
            return None
        user_id = user.id if user else ""
        async with self._database.reading() as session:
            # Several parts of a page ask.
            return await once(session, (query, user_id, problem), lambda: _read(session, query, user_id, problem))


async def _read(session: AsyncSession, query: PreparedSelect, user_id: str, problem: str | None) -> OpenExam | None:
    moment = now()
    values = {"user_id": user_id, "moment": moment, **({} if problem is None else {"problem": problem})}
    exams = (await select_rows(session, query, values)).all()
    closing = [(await last_deadline(session, exam.id, exam.due_at), exam) for exam in exams]
    return all_of(
        _opened(exam, until, parts)
        for until, exam in closing
        if not is_over(until, moment) and (parts := parts_of(exam.closes))
    )


def _opened(exam: Row[*tuple[Any, ...]], until: datetime, parts: frozenset[Part]) -> OpenExam:
    exam_id, course_id, _, _, duration_minutes, role, due_at, started_at, extra_minutes = exam
    is_student = role == "student"
    return OpenExam(
        end_of_minute(until),
        parts=parts,
        is_yours=role is not None,
        your_end=_end_of(duration_minutes, due_at, extra_minutes, started_at) if is_student else None,
        href=f"/courses/{course_id}/assignments/{exam_id}/exam" if is_student else "",
    )


def _end_of(
    duration_minutes: int | None, due_at: datetime, extra_minutes: int, started_at: datetime | None
) -> datetime | None:
    """None while the student has yet to start it."""
    if duration_minutes is None:
        return ends_at(due_at, None, extra_minutes, due_at)
    return None if started_at is None else ends_at(due_at, duration_minutes, extra_minutes, started_at)


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
