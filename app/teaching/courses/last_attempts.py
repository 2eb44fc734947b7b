"""When the students of courses last submitted to what is assigned there: one query for a whole list."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, func, or_, select

from app.accounts.caller import User
from app.core.database import Database
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, MemberRow
from app.teaching.courses.service import Course

_LAST = func.max(AttemptRow.created_at)


class LastAttempts:
    """Safe to share between requests.

    Only attempts with a score count, so an index has everything that is read. Those before an assignment opened are
    not attempts at it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_assignment(self, course: Course) -> dict[str, datetime]:
        """By the id of the assignment, of all students."""
        query = _sent(AssignmentRow.id).where(AssignmentRow.course_id == course.id, MemberRow.role == "student")
        return await self._read(query)

    async def by_member(self, course: Course, user_ids: Sequence[str]) -> dict[str, datetime]:
        """By the id of the account, of these members."""
        query = _sent(MemberRow.user_id).where(AssignmentRow.course_id == course.id, MemberRow.user_id.in_(user_ids))
        return await self._read(query)

    async def by_course(self, user: User, courses: Sequence[Course]) -> dict[str, datetime]:
        """By the id of the course: of all students where the user teaches or assists, and elsewhere the user's own."""
        staffed = [each.id for each in courses if each.is_taught or each.is_assisted]
        others = [each.id for each in courses if each.id not in staffed]
        member = MemberRow
        query = _sent(member.course_id).where(
            or_(
                and_(member.course_id.in_(staffed), member.role == "student"),
                and_(member.course_id.in_(others), member.user_id == user.id),
            )
        )
        return await self._read(query)

    async def _read(self, query: Any) -> dict[str, datetime]:
        async with self._database.reading() as session:
            return {key: last for key, last in await session.execute(query)}


def _sent(key: Any) -> Any:
    """The last attempt for each `key`, over the members of courses and the problems assigned to them."""
    row, within, assignment, member = AttemptRow, AssignmentProblemRow, AssignmentRow, MemberRow
    return (
        select(key, _LAST)
        .select_from(member)
        .join(assignment, assignment.course_id == member.course_id)
        .join(within, within.assignment_id == assignment.id)
        .join(
            row,
            and_(
                row.user_id == member.user_id,
                row.problem == within.problem,
                row.created_at >= assignment.opens_at,
                IS_SCORED,
            ),
        )
        .group_by(key)
    )
