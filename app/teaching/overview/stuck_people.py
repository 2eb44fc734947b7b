"""Students who are stuck: several recent attempts at a problem were rejected, and they have not solved it."""

from datetime import datetime, timedelta

from sqlalchemy import Select, exists, func, select, tuple_
from sqlalchemy.orm import aliased

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.view import View
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.withheld_verdicts import shown_only
from app.teaching.courses.assistant_access import assisted_exams
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, MemberRow
from app.teaching.courses.staff import manages

FEWEST_REJECTED = 3
RECENTLY = timedelta(days=14)
_MOST = 12


class StuckPerson(View):
    """Of `name` at a problem: how many attempts were rejected recently, and when the last one was sent."""

    id: str
    name: str
    problem: str
    rejected: int
    last_at: datetime


class StuckPeople:
    """Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, reader: User) -> list[StuckPerson]:
        """At most twelve, the latest attempt first. An assistant gets those whose attempts they may read. Attempts that
        an exam of another course withholds do not count.
        """
        row, solved = AttemptRow, aliased(AttemptRow)
        has_solved = exists().where(
            solved.user_id == row.user_id,
            solved.problem == row.problem,
            solved.score.is_not(None),
            solved.verdict_status == "accepted",
        )
        last = func.max(row.created_at)
        query = (
            select(UserRow.id, UserRow.name, row.problem, func.count(), last)
            .join(UserRow, UserRow.id == row.user_id)
            # Attempts have an index on when they finished.
            .where(row.finished_at > now() - RECENTLY, IS_SCORED, row.verdict_status == "rejected")
            .where(UserRow.role == "student", UserRow.deactivated_at.is_(None), ~has_solved)
            .group_by(UserRow.id, UserRow.name, row.problem)
            .having(func.count() >= FEWEST_REJECTED)
            .order_by(last.desc(), UserRow.name)
            .limit(_MOST)
        )
        async with self._database.reading() as session:
            if not manages(reader):
                seen = await assisted_exams(session, reader)
                query = query.where(tuple_(row.user_id, row.problem).in_(_assisted(reader)))
                query = query.where(*await shown_only(session, seen=seen))
            return [StuckPerson.of_columns(*each) for each in await session.execute(query)]


def _assisted(reader: User) -> Select[str, str]:
    """The students of the courses that `reader` assists, with the problems of these courses' assignments."""
    assistant, student = aliased(MemberRow), aliased(MemberRow)
    return (
        select(student.user_id, AssignmentProblemRow.problem)
        .join(assistant, assistant.course_id == student.course_id)
        .join(AssignmentRow, AssignmentRow.course_id == student.course_id)
        .join(AssignmentProblemRow, AssignmentProblemRow.assignment_id == AssignmentRow.id)
        .where(assistant.user_id == reader.id, assistant.role == "assistant", student.role == "student")
    )
