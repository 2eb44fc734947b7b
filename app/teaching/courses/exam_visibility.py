"""Which private problems an exam keeps from one of its students."""

from datetime import datetime

from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.clock import now
from app.teaching.courses.due_dates import is_over
from app.teaching.courses.exam_access import is_within, needs_start
from app.teaching.courses.exam_pools import ExamPools
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, ExamStartRow, MemberRow
from app.teaching.courses.student_dates import OPENS_AT, join_section, last_deadline


async def hidden_by_exams(session: AsyncSession, pools: ExamPools, user: User, address: str) -> set[tuple[str, str]]:
    """Pairs of a course and a problem: until the exam opens for the user's section, and then until the student has
    started it, if they have to, and while they are outside its networks. Of a pool, the problems that the student did
    not get. Nothing is hidden once the exam has closed for everyone.
    """
    row, within, moment = AssignmentRow, AssignmentProblemRow, now()
    query = (
        select(row, within.problem, within.pool, ExamStartRow.started_at, OPENS_AT)
        .join(within, within.assignment_id == row.id)
        .join(MemberRow, and_(MemberRow.course_id == row.course_id, MemberRow.user_id == user.id))
        .outerjoin(ExamStartRow, and_(ExamStartRow.assignment_id == row.id, ExamStartRow.user_id == user.id))
        .where(MemberRow.role == "student", row.is_exam)
    )
    found = (await session.execute(join_section(query, user.id))).all()
    exams = {each.id: each for each, *_ in found}
    over = {key for key, each in exams.items() if is_over(await last_deadline(session, key, each.due_at), moment)}
    of_pool: dict[tuple[str, int], list[str]] = {}
    for each, problem, pool, *_ in found:
        if pool is not None:
            of_pool.setdefault((each.id, pool), []).append(problem)
    drawn = {(key[0], pools.drawn(key[0], user.id, problems)) for key, problems in of_pool.items()}
    return {
        (each.course_id, problem)
        for each, problem, pool, started_at, opens_at in found
        if each.id not in over
        and not (
            _is_open(each, opens_at, started_at, address, moment) and (pool is None or (each.id, problem) in drawn)
        )
    }


def _is_open(
    exam: AssignmentRow, opens_at: datetime, started_at: datetime | None, address: str, moment: datetime
) -> bool:
    if opens_at > moment:
        return False
    return not needs_start(exam) or (started_at is not None and is_within(address, (exam.addresses or "").split()))
