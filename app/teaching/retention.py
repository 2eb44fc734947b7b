"""Deletes what the operator's rules no longer keep: runs, and people whose last course ended long ago."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, and_, case, delete, exists, func, select

from app.accounts.caller import GUEST_ID, user_of
from app.accounts.models import APITokenRow, SessionRow, UserRow
from app.core.background_loop import Loop
from app.core.clock import now
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import GradeQueue
from app.grading.queue.status import ENDED
from app.teaching.courses.models import AssignmentRow, CourseRow, MemberRow
from app.teaching.people.erasure import erase

# How many at a time: a transaction must not keep others waiting.
_RUNS, _PEOPLE = 500, 20
_REASON = "no course and no use for {days} days"


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """Each in days; None keeps them for good."""

    runs_kept_days: int | None = None
    people_kept_days: int | None = None


class Retention:
    """Applies the rules every hour. Several processes may do it at the same time."""

    def __init__(self, database: Database, queue: GradeQueue, rules: RetentionRules) -> None:
        self._database, self._queue, self._rules = database, queue, rules
        self.loop = Loop("deleting what the rules no longer keep", self.step, pause_s=3600.0)

    async def step(self) -> int:
        """Delete some. Returns how many."""
        return await self._delete_runs() + await self._erase_people()

    async def _delete_runs(self) -> int:
        if self._rules.runs_kept_days is None:
            return 0
        row, before = AttemptRow, now() - timedelta(days=self._rules.runs_kept_days)
        old = select(row.id).where(row.kind == "run", row.status.in_(ENDED), row.finished_at < before).limit(_RUNS)
        async with self._database.writing() as session:
            ids = list(await session.scalars(old))
            await session.execute(delete(row).where(row.id.in_(ids)).execution_options(synchronize_session=False))
        return len(ids)

    async def _erase_people(self) -> int:
        days = self._rules.people_kept_days
        if days is None:
            return 0
        async with self._database.reading() as session:
            gone = [user_of(row) for row in await session.scalars(_left_before(now() - timedelta(days=days)))]
        for person in gone:
            await erase(self._database, self._queue, person, None, _REASON.format(days=days))
        return len(gone)


def _left_before(moment: datetime) -> Select[UserRow]:
    """Students of courses that had all ended by then, who have not used the service since.

    A course ends when its last assignment is due, or earlier if it was archived, and one without assignments when it
    was created. Anyone who was in no course, or assists in one, is kept.
    """
    user = UserRow
    last_due = func.coalesce(
        select(func.max(AssignmentRow.due_at)).where(AssignmentRow.course_id == CourseRow.id).scalar_subquery(),
        CourseRow.created_at,
    )
    ends = case((CourseRow.archived_at < last_due, CourseRow.archived_at), else_=last_due)
    of_user = MemberRow.user_id == user.id
    last_used = func.coalesce(SessionRow.last_used_at, SessionRow.created_at)
    still = (
        exists().where(of_user, MemberRow.role != "student"),
        exists().where(of_user, MemberRow.joined_at >= moment),
        exists().where(of_user, CourseRow.id == MemberRow.course_id, ends >= moment),
        exists().where(AttemptRow.user_id == user.id, AttemptRow.created_at >= moment),
        exists().where(SessionRow.user_id == user.id, last_used >= moment),
        exists().where(APITokenRow.user_id == user.id, APITokenRow.last_used_at >= moment),
    )
    return (
        select(user)
        .where(user.role == "student", user.id != GUEST_ID, exists().where(of_user), and_(*(~each for each in still)))
        .order_by(user.id)
        .limit(_PEOPLE)
    )
