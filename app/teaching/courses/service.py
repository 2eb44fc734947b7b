"""Courses, who is in them, and what is due. The only writer of the first two; assignments.py writes what is due."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import GUEST_ID, User
from app.accounts.models import UserRow
from app.accounts.roles import is_at_least
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.errors import AssignmentNotFound, PersonNotFound, RoleMissing
from app.core.ids import is_id, new_id
from app.teaching.courses.due_dates import check_time_zone
from app.teaching.courses.errors import CourseNotFound, JoinCodeInvalid
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, CourseRow, MemberRow

LONGEST_NAME = 100
MOST_PROBLEMS = 60
MOST_POINTS = 1000
MemberRole = Literal["student", "assistant"]
# Without letters and digits that look alike: a join code is read aloud and copied from a board.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_CODE_LENGTH = 10


@dataclass(frozen=True, slots=True)
class Course:
    id: str
    name: str
    time_zone: str
    join_code: str
    created_at: datetime
    students: int = 0


@dataclass(frozen=True, slots=True)
class AssignedProblem:
    problem: str
    points: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """`late_percent` is what each day after `due_at` costs; None if nothing counts after it.

    `attempt_limit` and `cool_down_minutes` are for each problem; None if there is no limit. In an exam, students see
    verdicts once it has closed for everyone.
    """

    id: str
    name: str
    opens_at: datetime
    due_at: datetime
    late_percent: int | None
    problems: tuple[AssignedProblem, ...]
    attempt_limit: int | None = None
    cool_down_minutes: int | None = None
    is_exam: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    id: str
    name: str
    joined_at: datetime
    role: MemberRole


@dataclass(frozen=True, slots=True)
class Account:
    id: str
    name: str


def manages(user: User) -> bool:
    """Whether the user may change courses and see every student in them, as instructors and owners may."""
    return is_at_least(user.role, "instructor")


class Courses:
    """Safe to share between requests. The routes check who may call what; `get` checks who may see a course."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, name: str, time_zone: str) -> Course:
        """Raises `FieldInvalid` and `TimeZoneNotFound`."""
        row = CourseRow(
            id=new_id(),
            name=check_line("name", name, LONGEST_NAME),
            time_zone=check_time_zone(time_zone),
            join_code="".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH)),
            created_at=now(),
        )
        async with self._database.writing() as session:
            session.add(row)
        return _course(row)

    @staticmethod
    def view(row: CourseRow) -> Course:
        """A course by its row, for a part of the service that has checked who may see it."""
        return _course(row)

    async def visible_to(self, user: User) -> list[Course]:
        """All courses for instructors and owners, and their own courses for other users, newest first."""
        counts = select(MemberRow.course_id, func.count().label("students")).group_by(MemberRow.course_id).subquery()
        query = (
            select(CourseRow, func.coalesce(counts.c.students, 0))
            .outerjoin(counts, counts.c.course_id == CourseRow.id)
            .order_by(CourseRow.created_at.desc(), CourseRow.id)
        )
        if not manages(user):
            query = query.join(MemberRow, MemberRow.course_id == CourseRow.id).where(MemberRow.user_id == user.id)
        async with self._database.reading() as session:
            return [_course(*row) for row in await session.execute(query)]

    async def get(self, user: User, course_id: str) -> Course:
        """Raises `CourseNotFound`, even if the course exists but the user is not in it."""
        async with self._database.reading() as session:
            row = await session.get(CourseRow, course_id) if is_id(course_id) else None
            if row is not None:
                member = await session.get(MemberRow, (row.id, user.id))
                if member is not None or manages(user):
                    return _course(row)
        raise _no_course(course_id)

    async def graded(self, user: User, course_id: str) -> Course:
        """The course, for those who read its gradebook: instructors, owners and its assistants.

        Raises:
          RoleMissing: for any other user, whether the course exists or not.
          CourseNotFound.
        """
        if not manages(user) and not await self.assists(user, course_id):
            raise RoleMissing("Only instructors and the assistants of a course can read its gradebook.")
        return await self.get(user, course_id)

    async def assists(self, user: User, course_id: str) -> bool:
        async with self._database.reading() as session:
            row = await session.get(MemberRow, (course_id, user.id)) if is_id(course_id) else None
        return row is not None and row.role == "assistant"

    async def assists_any(self, user: User) -> bool:
        query = select(MemberRow.course_id).where(MemberRow.user_id == user.id, MemberRow.role == "assistant").limit(1)
        async with self._database.reading() as session:
            return await session.scalar(query) is not None

    async def join(self, user: User, code: str) -> Course:
        """Join the course with this code. Joining again changes nothing. Raises `JoinCodeInvalid`."""
        code = code.strip().lower()
        async with self._database.writing() as session:
            known = code.isascii() and code.isalnum()
            row = await session.scalar(select(CourseRow).where(CourseRow.join_code == code)) if known else None
            if row is None:
                raise JoinCodeInvalid(f"No course has the join code {code[:32]!r}. Ask your instructor for it.")
            await add_member_in(session, row.id, user.id, "student")
        return _course(row)

    async def members(self, course: Course) -> list[Member]:
        """By name."""
        query = (
            select(UserRow.id, UserRow.name, MemberRow.joined_at, MemberRow.role)
            .join(MemberRow, MemberRow.user_id == UserRow.id)
            .where(MemberRow.course_id == course.id)
            .order_by(UserRow.name)
        )
        async with self._database.reading() as session:
            return [
                Member(user_id, name, joined_at, cast(MemberRole, role))
                for user_id, name, joined_at, role in await session.execute(query)
            ]

    async def remove(self, course: Course, user_id: str) -> None:
        """Their attempts stay. Raises `PersonNotFound`."""
        async with self._database.writing() as session:
            gone = await session.scalar(
                delete(MemberRow)
                .where(MemberRow.course_id == course.id, MemberRow.user_id == user_id[:32].replace("\0", ""))
                .returning(MemberRow.user_id)
            )
        if gone is None:
            raise _nobody(user_id)

    async def former_member(self, course: Course, user_id: str) -> Account | None:
        """The account with this id, unless it is in the course."""
        is_member = exists().where(MemberRow.course_id == course.id, MemberRow.user_id == UserRow.id)
        query = select(UserRow.id, UserRow.name).where(UserRow.id == user_id, UserRow.id != GUEST_ID, ~is_member)
        if not is_id(user_id):
            return None
        async with self._database.reading() as session:
            row = (await session.execute(query)).first()
        return Account(*row) if row else None

    async def add(self, course: Course, user_id: str) -> None:
        """Add an account as a student. For a member, nothing changes. Raises `PersonNotFound`."""
        async with self._database.writing() as session:
            row = await session.get(UserRow, user_id) if is_id(user_id) and user_id != GUEST_ID else None
            if row is None:
                raise PersonNotFound(f"There is no account with the id {user_id[:64]!r}. It may have been deleted.")
            await add_member_in(session, course.id, row.id, "student")

    async def set_role(self, course: Course, user_id: str, role: MemberRole) -> None:
        """Make a member of the course an assistant, who reads its gradebook, or a student. Raises `PersonNotFound`."""
        row = MemberRow
        async with self._database.writing() as session:
            found = await session.scalar(
                update(row)
                .where(row.course_id == course.id, row.user_id == user_id[:32].replace("\0", ""))
                .values(role=role)
                .returning(row.user_id)
            )
        if found is None:
            raise _nobody(user_id)

    async def assignments(self, course: Course) -> list[Assignment]:
        """By deadline."""
        rows = select(AssignmentRow).where(AssignmentRow.course_id == course.id)
        within = (
            select(AssignmentProblemRow)
            .join(AssignmentRow, AssignmentRow.id == AssignmentProblemRow.assignment_id)
            .where(AssignmentRow.course_id == course.id)
            .order_by(AssignmentProblemRow.position)
        )
        async with self._database.reading() as session:
            found = list(await session.scalars(rows.order_by(AssignmentRow.due_at, AssignmentRow.id)))
            problems: dict[str, list[AssignedProblem]] = {each.id: [] for each in found}
            for each in await session.scalars(within):
                problems[each.assignment_id].append(AssignedProblem(each.problem, each.points))
        return [assignment_of(each, problems[each.id]) for each in found]

    async def assignment(self, course: Course, assignment_id: str) -> Assignment:
        """Raises `AssignmentNotFound`."""
        for each in await self.assignments(course):
            if each.id == assignment_id:
                return each
        raise no_assignment(assignment_id)


async def add_member_in(session: AsyncSession, course_id: str, user_id: str, role: MemberRole) -> bool:
    """In the caller's transaction. `False` if they are in the course, whose role then does not change."""
    values = {"course_id": course_id, "user_id": user_id, "role": role, "joined_at": now()}
    insert = insert_into(session, MemberRow).values(values).on_conflict_do_nothing()
    return await session.scalar(insert.returning(MemberRow.user_id)) is not None


def assignment_of(row: AssignmentRow, problems: Sequence[AssignedProblem]) -> Assignment:
    return Assignment(
        row.id,
        row.name,
        row.opens_at,
        row.due_at,
        row.late_percent,
        tuple(problems),
        row.attempt_limit,
        row.cool_down_minutes,
        row.is_exam,
    )


def no_assignment(assignment_id: str) -> AssignmentNotFound:
    return AssignmentNotFound(f"This course has no assignment with the id {assignment_id[:64]!r}.")


def _course(row: CourseRow, students: int = 0) -> Course:
    return Course(row.id, row.name, row.time_zone, row.join_code, row.created_at, students)


def _no_course(course_id: str) -> CourseNotFound:
    return CourseNotFound(f"You are not in a course with the id {course_id[:64]!r}. To join one, enter its join code.")


def _nobody(user_id: str) -> PersonNotFound:
    return PersonNotFound(f"No member of this course has the id {user_id[:64]!r}.")
