"""When the students of courses last submitted to what is assigned there: one query for a whole list."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select

from app.accounts.caller import User
from app.core.database import Database
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, MemberRow
from app.teaching.courses.service import Course


class LastAttempts:
    """Safe to share between requests.

    Only attempts with a score count, so an index has everything that is read. Those before an assignment opened are
    not attempts at it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_assignment(self, course: Course) -> dict[str, datetime]:
        """By the id of the assignment, of all students."""
        return await self._read(AssignmentRow.id, MemberRow.course_id == course.id, MemberRow.role == "student")

    async def by_member(self, course: Course, user_ids: Sequence[str]) -> dict[str, datetime]:
        """By the id of the account, of these members."""
        return await self._read(MemberRow.user_id, MemberRow.course_id == course.id, MemberRow.user_id.in_(user_ids))

    async def by_course(self, user: User, courses: Sequence[Course]) -> dict[str, datetime]:
        """By the id of the course: of all students where the user teaches or assists, and elsewhere the user's own."""
        staffed = [each.id for each in courses if each.is_taught or each.is_assisted]
        others = [each.id for each in courses if each.id not in staffed]
        member = MemberRow
        return await self._read(
            member.course_id,
            or_(
                and_(member.course_id.in_(staffed), member.role == "student"),
                and_(member.course_id.in_(others), member.user_id == user.id),
            ),
        )

    async def _read(self, key: Any, *members: ColumnElement[bool]) -> dict[str, datetime]:
        """By `key`, over these members and the problems assigned to them."""
        found: dict[str, datetime] = {}
        async with self._database.reading() as session:
            for name, opens_at, last in await session.execute(_sent(key, *members)):
                if last is not None and last >= opens_at:
                    found[name] = max(last, found.get(name, last))
        return found


def _sent(key: Any, *members: ColumnElement[bool]) -> Any:
    """The last attempt for each `key` and assignment, whenever it was sent: the last one of all is also the last one
    since the assignment opened, if there is one.

    By a subquery for each member and problem, which reads one entry of an index. A join would read every attempt.
    """
    row, within, assignment, member = AttemptRow, AssignmentProblemRow, AssignmentRow, MemberRow
    last = (
        select(func.max(row.created_at))
        .where(row.user_id == member.user_id, row.problem == within.problem, IS_SCORED)
        .correlate(member, within)
        .scalar_subquery()
    )
    return (
        select(key, assignment.opens_at, func.max(last))
        .select_from(member)
        .join(assignment, assignment.course_id == member.course_id)
        .join(within, within.assignment_id == assignment.id)
        .where(*members)
        .group_by(key, assignment.id)
    )
