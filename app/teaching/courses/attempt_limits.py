"""Holds a student's attempts to the limits of their assignments, and hides those that belong to an exam."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from sqlalchemy import and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import WithheldRow
from app.teaching.courses.due_dates import closes_at, to_local
from app.teaching.courses.errors import CoolDown, NoAttemptsLeft
from app.teaching.courses.exams import closes_for_all
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, CourseRow, ExtensionRow, MemberRow


@dataclass(frozen=True, slots=True)
class _Limit:
    """An assignment that limits attempts, with the times of one student."""

    row: AssignmentRow
    course: str
    zone: str
    extra_minutes: int
    extra_attempts: int

    @property
    def due_at(self) -> datetime:
        return self.row.due_at + timedelta(minutes=self.extra_minutes)

    @property
    def closes_at(self) -> datetime:
        return closes_at(self.due_at, self.row.late_percent)

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
        """Raises `NoAttemptsLeft` and `CoolDown`."""
        if user.role != "student" or user.guest is not None:
            return []
        moment = attempt.created_at
        withheld = []
        for each in await _limits(session, user, attempt.problem, moment):
            if moment <= each.closes_at:
                await _check(session, each, user, attempt.problem, moment)
            # Others may still have time, to whom a verdict would be of use.
            if each.row.is_exam and moment <= (until := await closes_for_all(session, each.row.id, each.row.due_at)):
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


async def _limits(session: AsyncSession, user: User, problem: str, moment: datetime) -> Sequence[_Limit]:
    row, extension = AssignmentRow, ExtensionRow
    query = (
        select(row, CourseRow.name, CourseRow.time_zone, extension.extra_minutes, extension.extra_attempts)
        .join(AssignmentProblemRow, AssignmentProblemRow.assignment_id == row.id)
        .join(CourseRow, CourseRow.id == row.course_id)
        .join(MemberRow, MemberRow.course_id == row.course_id)
        .outerjoin(extension, and_(extension.assignment_id == row.id, extension.user_id == user.id))
        .where(
            MemberRow.user_id == user.id,
            MemberRow.role == "student",
            AssignmentProblemRow.problem == problem,
            row.opens_at <= moment,
            or_(row.attempt_limit.is_not(None), row.cool_down_minutes.is_not(None), row.is_exam),
        )
        .order_by(row.due_at, row.id)
        # Of two attempts that are sent at once, the second one waits here and then sees the first.
        .with_for_update(of=MemberRow)
    )
    found = await session.execute(query)
    return [_Limit(each, name, zone, minutes or 0, more or 0) for each, name, zone, minutes, more in found]


async def _check(session: AsyncSession, limit: _Limit, user: User, problem: str, moment: datetime) -> None:
    used, last_at = await attempts_used(session, user.id, problem, limit.row.opens_at)
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
        wait_s = ceil((again_at - moment).total_seconds())
        raise CoolDown(
            f"Between attempts at this problem, {limit.name} requires a pause of {limit.row.cool_down_minutes} min. "
            f"Submit again in {_pause(wait_s)}, at {limit.local(again_at)} or later. Until then, you can run your "
            f"code.",
            headers={"Retry-After": str(wait_s)},
            retry_at=again_at.isoformat(),
        )


def _pause(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{ceil(seconds / 60)} min"


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
