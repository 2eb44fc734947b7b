"""What an assistant of a course may read beyond its gradebook."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.database import Database
from app.core.ids import is_id
from app.grading.queue.withheld_verdicts import SeenExams
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, MemberRow


class CourseAssistance:
    """The `Assistance` of app/teaching/people/assistance.py: students of the courses that they assist, at the problems
    of their assignments.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def problems_of(self, reader: User, person_id: str) -> frozenset[str]:
        if not is_id(person_id):
            return frozenset()
        assistant, student = aliased(MemberRow), aliased(MemberRow)
        query = (
            select(AssignmentProblemRow.problem)
            .join(AssignmentRow, AssignmentRow.id == AssignmentProblemRow.assignment_id)
            .join(assistant, assistant.course_id == AssignmentRow.course_id)
            .join(student, student.course_id == AssignmentRow.course_id)
            .join(UserRow, UserRow.id == student.user_id)
            .where(
                assistant.user_id == reader.id,
                assistant.role == "assistant",
                student.user_id == person_id,
                student.role == "student",
                # An instructor of another course may be a student of this one. Only owners read their submissions.
                UserRow.role == "student",
            )
            .distinct()
        )
        async with self._database.reading() as session:
            return frozenset(await session.scalars(query))

    async def exams_of(self, reader: User) -> SeenExams:
        async with self._database.reading() as session:
            return await assisted_exams(session, reader)


async def assisted_exams(session: AsyncSession, reader: User) -> SeenExams:
    """The exams of the courses that a student assists. Their verdicts are withheld from them in no other exam."""
    of_courses = select(MemberRow.course_id).where(MemberRow.user_id == reader.id, MemberRow.role == "assistant")
    query = select(AssignmentRow.id).where(AssignmentRow.is_exam, AssignmentRow.course_id.in_(of_courses))
    return SeenExams(frozenset(await session.scalars(query)))
