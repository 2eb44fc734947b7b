"""Holds a student's attempts to the limits of their assignments, and hides those that belong to an exam."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, String, and_, bindparam, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.database import UTCDateTime
from app.core.limits import in_words, retry_after, seconds_until
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import WithheldRow
from app.problems.viewer import viewer
from app.teaching.courses.due_dates import closes_at, is_over, to_local
from app.teaching.courses.errors import CoolDown, CourseArchived, NoAttemptsLeft
from app.teaching.courses.exam_access import needs_start, require_address, require_time
from app.teaching.courses.models import (
    AssignmentProblemRow,
    AssignmentRow,
    CourseRow,
    ExamStartRow,
    ExtensionRow,
    MemberRow,
)
from app.teaching.courses.student_dates import DUE_AT, OPENS_AT, has_opened, join_section, last_deadline


def _limits_of_student() -> Select[Any]:
    row, extension, start = AssignmentRow, ExtensionRow, ExamStartRow
    user, moment = bindparam("user_id", type_=String()), bindparam("moment", type_=UTCDateTime())
    query = (
        select(
            row,
            OPENS_AT,
            DUE_AT,
            CourseRow.name,
            CourseRow.time_zone,
            func.coalesce(extension.extra_minutes, 0),
            func.coalesce(extension.extra_attempts, 0),
            start.started_at,
            CourseRow.archived_at.is_not(None),
        )
        .join(AssignmentProblemRow, AssignmentProblemRow.assignment_id == row.id)
        .join(CourseRow, CourseRow.id == row.course_id)
        .join(MemberRow, MemberRow.course_id == row.course_id)
        .outerjoin(extension, and_(extension.assignment_id == row.id, extension.user_id == user))
        .outerjoin(start, and_(start.assignment_id == row.id, start.user_id == user))
        .where(
            MemberRow.user_id == user,
            MemberRow.role == "student",
            AssignmentProblemRow.problem == bindparam("problem"),
            # An exam hides what its students submit from when it opens for the first of them.
            or_(moment >= OPENS_AT, and_(row.is_exam, has_opened(moment))),
        )
        .order_by(row.due_at, row.id)
        # Of two attempts that are sent at once, the second one waits here and then sees the first.
        .with_for_update(of=MemberRow)
    )
    limits: Select[Any] = join_section(query, user)
    return limits


# Built once: building it takes four times as long as executing it, and every submission needs it.
_LIMITS = _limits_of_student()


@dataclass(frozen=True, slots=True)
class _Limit:
    """An assignment that may limit attempts, with the times of one student. `opens_at` and `section_due_at` are of
    their section.
    """

    row: AssignmentRow
    opens_at: datetime
    section_due_at: datetime
    course: str
    zone: str
    extra_minutes: int
    extra_attempts: int
    started_at: datetime | None
    is_archived: bool

    @property
    def has_limits(self) -> bool:
        return self.row.attempt_limit is not None or self.row.cool_down_minutes is not None

    @property
    def due_at(self) -> datetime:
        return self.section_due_at + timedelta(minutes=self.extra_minutes)

    @property
    def closes_at(self) -> datetime:
        return closes_at(self.due_at, self.row.late_percent, self.zone, self.row.grace_minutes)

    @property
    def name(self) -> str:
        return f"the assignment {self.row.name!r} of {self.course!r}"

    def local(self, moment: datetime) -> str:
        return f"{to_local(moment, self.zone):%-d %b %Y, %H:%M} ({self.zone})"


class CourseGate:
    """The `Gate` of app/grading/attempts/submission_limits.py.

    Where a problem is in several assignments, each of them must admit it.
    """

    async def admit(self, session: AsyncSession, user: User, attempt: AttemptRow) -> list[WithheldRow]:
        """Raises `CourseArchived`, `NoAttemptsLeft`, `CoolDown`, `ExamNotStarted`, `ExamTimeOver`, `AddressRefused`."""
        if user.role != "student" or user.guest is not None:
            return []
        moment = attempt.created_at
        withheld = []
        limits = await _limits(session, user, attempt.problem, moment)
        _refuse_archived(limits, moment)
        for each in limits:
            has_opened_for_them = each.opens_at <= moment
            is_open = has_opened_for_them and not each.is_archived and not is_over(each.closes_at, moment)
            if each.has_limits and is_open:
                await _check(session, each, user, attempt.problem, moment)
            # Others may still have time, to whom a verdict would be of use.
            if not each.row.is_exam:
                continue
            until = await last_deadline(session, each.row.id, each.row.due_at)
            if not is_over(until, moment):
                if has_opened_for_them and not each.is_archived:
                    _require_start(each, moment)
                withheld.append(
                    WithheldRow(
                        attempt_id=attempt.id,
                        assignment_id=each.row.id,
                        user_id=user.id,
                        problem=attempt.problem,
                        until=until,
                    )
                )
        return withheld

    async def admit_run(self, session: AsyncSession, user: User, run: AttemptRow) -> None:
        """A run shows the results of public cases, so an exam admits it when it admits an attempt. Raises
        `ExamNotStarted`, `ExamTimeOver`, `AddressRefused`.
        """
        if user.role != "student" or user.guest is not None:
            return
        moment = run.created_at
        for each in await _limits(session, user, run.problem, moment):
            if not each.row.is_exam or each.is_archived or each.opens_at > moment:
                continue
            if not is_over(await last_deadline(session, each.row.id, each.row.due_at), moment):
                _require_start(each, moment)


def _refuse_archived(limits: Sequence[_Limit], moment: datetime) -> None:
    """Raises `CourseArchived` if the attempt could only count in a course that is archived."""
    current = [each for each in limits if each.opens_at <= moment and not is_over(each.closes_at, moment)]
    if current and all(each.is_archived for each in current):
        raise CourseArchived(
            f"The course is archived, so {current[0].name} takes no more attempts. You can still run your code."
        )


def _require_start(limit: _Limit, moment: datetime) -> None:
    """Raises `ExamNotStarted`, `ExamTimeOver` and `AddressRefused`."""
    if needs_start(limit.row):
        require_address(limit.name, viewer().address, (limit.row.addresses or "").split())
        require_time(limit.name, limit.row, limit.section_due_at, limit.extra_minutes, limit.started_at, moment)


async def _limits(session: AsyncSession, user: User, problem: str, moment: datetime) -> Sequence[_Limit]:
    found = await session.execute(_LIMITS, {"user_id": user.id, "problem": problem, "moment": moment})
    return [_Limit(*each) for each in found]


async def _check(session: AsyncSession, limit: _Limit, user: User, problem: str, moment: datetime) -> None:
    used, last_at = await attempts_used(session, user.id, problem, limit.opens_at)
    most = None if limit.row.attempt_limit is None else limit.row.attempt_limit + limit.extra_attempts
    if most is not None and used >= most:
        allowed = "the one attempt" if most == 1 else f"all {most} attempts"
        raise NoAttemptsLeft(
            f"You have submitted {allowed} at this problem that {limit.name} allows "
            f"until {limit.local(limit.closes_at)}. "
            "You can still run your code. If you need another attempt, ask your instructor.",
            closes_at=limit.closes_at.isoformat(),
        )
    pause = timedelta(minutes=limit.row.cool_down_minutes or 0)
    if last_at is not None and moment < last_at + pause:
        again_at = last_at + pause
        wait_s = seconds_until(again_at, moment)
        raise CoolDown(
            f"Between attempts at this problem, {limit.name} requires a pause of {limit.row.cool_down_minutes} min. "
            f"Submit again in {in_words(wait_s)}, at {limit.local(again_at)} or later. Until then, you can run your "
            f"code.",
            headers=retry_after(wait_s),
            retry_at=again_at.isoformat(),
        )


async def attempts_used(
    session: AsyncSession, user_id: str, problem: str, since: datetime
) -> tuple[int, datetime | None]:
    """How many attempts count, and when the last was sent. Those cancelled, or that the judge failed, do not."""
    row = AttemptRow
    query = select(func.count(), func.max(row.created_at)).where(
        row.user_id == user_id,
        row.problem == problem,
        row.kind == "attempt",
        row.created_at >= since,
        row.status != "cancelled",
        or_(row.verdict_status.is_(None), row.verdict_status != "failed"),
    )
    used, last_at = (await session.execute(query)).one()
    return used, last_at
