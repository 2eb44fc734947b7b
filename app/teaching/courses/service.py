"""Courses, and what is due. course_changes.py changes courses; members.py says who is in them; assignments.py writes
what is due.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, cast

from sqlalchemy import and_, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.errors import AssignmentNotFound, RoleMissing
from app.core.ids import is_id, new_id
from app.core.rest.paging import ALL, Cursor, Page, paged
from app.core.text_search import has_text
from app.problems.exams import PARTS, USUAL, Part
from app.teaching.courses.due_dates import check_time_zone
from app.teaching.courses.errors import CourseArchived, CourseNotFound, JoinCodeInvalid
from app.teaching.courses.exam_pools import ExamPools
from app.teaching.courses.grade_arithmetic import Rule
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, CourseRow, MemberRow
from app.teaching.courses.rights import RIGHT_MEANINGS, Right, read_rights, right_missing
from app.teaching.courses.staff import add_instructor_in, is_taught_by, manages

LONGEST_NAME = 100
MOST_PROBLEMS = 60
MOST_POINTS = 1000
MemberRole = Literal["student", "assistant"]
# To whom an exam closes hints and other parts of its problems: its students, or every account and visitor.
ClosedFor = Literal["students", "everyone"]
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
    archived_at: datetime | None = None
    # By the user who asked for it: as an instructor, or as an assistant with these rights.
    is_taught: bool = False
    is_assisted: bool = False
    rights: frozenset[Right] = frozenset()

    def allows(self, right: Right) -> bool:
        """Whether the user who asked for it may do this in it."""
        return self.is_taught or right in self.rights


@dataclass(frozen=True, slots=True)
class AssignedProblem:
    """Of the problems of an assignment with the same `pool`, each student gets one."""

    problem: str
    points: int
    pool: int | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """`late_percent` is what each day after `due_at` costs; None if nothing counts after it.

    `attempt_limit` and `cool_down_minutes` are for each problem; None if there is no limit. In an exam, students see
    verdicts once it has closed for everyone. Until then, it closes the parts `closes` of its problems.
    Each student has `duration_minutes` from when they start; `addresses` are the networks from which they may.
    Until `grace_minutes` after `due_at`, nothing is deducted. `weight` is within the `category`; None if the assignment
    weighs as much as its points.
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
    counted: Rule = "best"
    grace_minutes: int = 0
    weight: int | None = None
    category: str | None = None
    closes: frozenset[Part] = USUAL
    closed_for: ClosedFor = "students"
    duration_minutes: int | None = None
    password_hash: str | None = field(default=None, repr=False)
    addresses: tuple[str, ...] = ()
    pools: ExamPools | None = field(default=None, repr=False, compare=False)

    @property
    def places(self) -> tuple[tuple[AssignedProblem, ...], ...]:
        """Its problems in order, each pool where its first problem is."""
        found: dict[object, list[AssignedProblem]] = {}
        for each in self.problems:
            found.setdefault(each.problem if each.pool is None else each.pool, []).append(each)
        return tuple(tuple(each) for each in found.values())

    @property
    def most_points(self) -> int:
        return sum(place[0].points for place in self.places)

    def drawn(self, user_id: str, problems: Sequence[str]) -> str:
        """The one of these problems, a pool of it, that the student gets."""
        return self.pools.drawn(self.id, user_id, problems) if self.pools and len(problems) > 1 else problems[0]

    def of_student(self, user_id: str) -> tuple[AssignedProblem, ...]:
        """The problems that this student gets."""
        drawn = {self.drawn(user_id, [each.problem for each in place]) for place in self.places}
        return tuple(each for each in self.problems if each.problem in drawn)

    def is_named(self, part: str) -> bool:
        """Whether this text is a part of its name, or of the slug of one of its problems."""
        names = (self.name, *(each.problem for each in self.problems))
        return any(part.casefold() in each.casefold() for each in names)

    @property
    def needs_start(self) -> bool:
        """Whether each student has to start it: it has a time for each of them, a password or networks."""
        return self.is_exam and (self.duration_minutes is not None or bool(self.password_hash or self.addresses))


class Courses:
    """Safe to share between requests. The routes check who may call what; `get` checks who may see a course."""

    def __init__(self, database: Database, pools: ExamPools) -> None:
        self._database = database
        self._pools = pools

    async def create(self, user: User, name: str, time_zone: str) -> Course:
        """A course that the user teaches. Raises `FieldInvalid` and `TimeZoneNotFound`."""
        row = CourseRow(
            id=new_id(),
            name=check_line("name", name, LONGEST_NAME),
            time_zone=check_time_zone(time_zone),
            join_code=new_join_code(),
            created_at=now(),
        )
        async with self._database.writing() as session:
            session.add(row)
            await session.flush()
            await add_instructor_in(session, row.id, user.id)
            record(session, user, "course-created", None, "", row.name, row.id)
        return _course(row, is_taught=True)

    @staticmethod
    def view(row: CourseRow) -> Course:
        """A course by its row, for a part of the service that has checked who may see it."""
        return _course(row)

    async def visible_to(
        self, user: User, cursor: Cursor = ALL, *, archived: bool = False, q: str = ""
    ) -> Page[Course]:
        """Those that the user teaches or is in, newest first: those that run, or the `archived` ones. `q` is a part of
        the name. Raises `CourseNotFound` for the cursor.
        """
        is_in = exists().where(MemberRow.course_id == CourseRow.id, MemberRow.user_id == user.id)
        is_taught = is_taught_by(user)
        members = select(func.count()).where(MemberRow.course_id == CourseRow.id).scalar_subquery()
        own = aliased(MemberRow)
        query = (
            select(CourseRow, members, is_taught, own)
            .outerjoin(own, and_(own.course_id == CourseRow.id, own.user_id == user.id))
            .where(or_(is_taught, is_in))
        )
        runs = CourseRow.archived_at.is_(None)
        only = [~runs if archived else runs, *([has_text(q, [CourseRow.name])] if q else [])]
        by = (CourseRow.created_at, CourseRow.id)
        async with self._database.reading() as session:
            return await paged(
                session,
                query,
                by,
                cursor,
                lambda row, students, taught, own: _course(row, students, own, is_taught=bool(taught)),
                only=only,
                missing=no_course,
            )

    async def get(self, user: User, course_id: str) -> Course:
        """Raises `CourseNotFound`, even if the course exists but the user neither teaches it nor is in it."""
        course = await self._find(user, course_id)
        if course is None:
            raise no_course(course_id)
        return course

    async def _find(self, user: User, course_id: str) -> Course | None:
        if is_id(course_id):
            query = select(CourseRow, is_taught_by(user)).where(CourseRow.id == course_id)
            async with self._database.reading() as session:
                found = (await session.execute(query)).first()
                member = await session.get(MemberRow, (course_id, user.id))
            if found and (found[1] or member is not None):
                return _course(found[0], member=member, is_taught=bool(found[1]))
        return None

    async def taught(self, user: User, course_id: str) -> Course:
        """Raises `RoleMissing` for those who are in the course otherwise, and `CourseNotFound` for everyone else."""
        course = await self.get(user, course_id)
        if not course.is_taught:
            part = "an assistant" if course.is_assisted else "a student"
            raise RoleMissing(f"Only the instructors of {course.name} can do this. You are {part} of it.")
        return course

    async def require_taught(self, user: User, course_id: str | None, assignment_id: str | None) -> None:
        """Raises what `taught` raises for a course, and `AssignmentNotFound` for an assignment that the user does not
        teach. An assignment that does not exist passes.
        """
        if course_id is not None:
            await self.taught(user, course_id)
        if assignment_id is not None and is_id(assignment_id):
            query = select(is_taught_by(user)).select_from(CourseRow)
            query = query.join(AssignmentRow, AssignmentRow.course_id == CourseRow.id)
            async with self._database.reading() as session:
                is_taught = await session.scalar(query.where(AssignmentRow.id == assignment_id))
            if is_taught is not None and not is_taught:
                raise AssignmentNotFound(f"No course has an assignment with the id {assignment_id!r}.")

    async def allowed(self, user: User, course_id: str, right: Right | None) -> Course:
        """The course, for those who teach it and for its assistants: those with this right, or all of them.

        Raises:
          RoleMissing: for anyone else who is in the course, and for students, whether the course exists or not.
          RightMissing: for an assistant without the right.
          CourseNotFound: for an instructor who neither teaches the course nor is in it.
        """
        course = await self._find(user, course_id)
        if course is None and manages(user):
            raise no_course(course_id)
        if course is None or not (course.is_taught or course.is_assisted):
            who = "the assistants of a course" if right is None else f"its assistants with the right {right!r}"
            what = "read its gradebook" if right is None else RIGHT_MEANINGS[right]
            raise RoleMissing(f"Only instructors and {who} can {what}.")
        if right is not None and not course.allows(right):
            raise right_missing(right, course.name)
        return course

    async def require_assigned(self, course: Course, slug: str) -> None:
        """Raises `RoleMissing` unless a problem is in an assignment of the course, beyond which its assistants do not
        see.
        """
        row, within = AssignmentRow, AssignmentProblemRow
        query = select(within.problem).join(row, row.id == within.assignment_id)
        async with self._database.reading() as session:
            found = await session.scalar(query.where(row.course_id == course.id, within.problem == slug).limit(1))
        if found is None:
            raise RoleMissing(f"Assistants of {course.name} can do this only at the problems of its assignments.")

    async def assists_any(self, user: User) -> bool:
        query = select(MemberRow.course_id).where(MemberRow.user_id == user.id, MemberRow.role == "assistant").limit(1)
        async with self._database.reading() as session:
            return await session.scalar(query) is not None

    async def join(self, user: User, code: str) -> Course:
        """Join the course with this code. Joining again changes nothing.

        Raises:
          JoinCodeInvalid.
          CourseArchived: nobody joins it any more.
        """
        code = code.strip().lower()
        async with self._database.writing() as session:
            known = code.isascii() and code.isalnum()
            row = await session.scalar(select(CourseRow).where(CourseRow.join_code == code)) if known else None
            if row is None:
                raise JoinCodeInvalid(f"No course has the join code {code[:32]!r}. Ask your instructor for it.")
            if row.archived_at is not None and await session.get(MemberRow, (row.id, user.id)) is None:
                raise CourseArchived(f"{row.name} is archived, so nobody can join it. Ask your instructor for help.")
            await add_member_in(session, row.id, user.id, "student")
        return await self.get(user, row.id)

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
                problems[each.assignment_id].append(AssignedProblem(each.problem, each.points, each.pool))
        return [replace(assignment_of(each, problems[each.id]), pools=self._pools) for each in found]

    async def assignment(self, course: Course, assignment_id: str) -> Assignment:
        """Raises `AssignmentNotFound`."""
        for each in await self.assignments(course):
            if each.id == assignment_id:
                return each
        raise no_assignment(assignment_id)


def new_join_code() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))


async def add_member_in(session: AsyncSession, course_id: str, user_id: str, role: MemberRole) -> bool:
    """In the caller's transaction. `False` if they are in the course, whose role then does not change."""
    values = {"course_id": course_id, "user_id": user_id, "role": role, "joined_at": now()}
    insert = insert_into(session, MemberRow).values(values).on_conflict_do_nothing()
    return await session.scalar(insert.returning(MemberRow.user_id)) is not None


def assignment_of(row: AssignmentRow, problems: Sequence[AssignedProblem]) -> Assignment:
    return Assignment(
        id=row.id,
        name=row.name,
        opens_at=row.opens_at,
        due_at=row.due_at,
        late_percent=row.late_percent,
        problems=tuple(problems),
        attempt_limit=row.attempt_limit,
        cool_down_minutes=row.cool_down_minutes,
        is_exam=row.is_exam,
        counted=cast(Rule, row.counted),
        grace_minutes=row.grace_minutes,
        weight=row.weight,
        category=row.category,
        closes=parts_of(row.closes),
        closed_for="everyone" if row.closed_for == "everyone" else "students",
        duration_minutes=row.duration_minutes,
        password_hash=row.password_hash,
        addresses=tuple((row.addresses or "").split()),
    )


def parts_of(stored: str | None) -> frozenset[Part]:
    """What an exam closes, as it is stored."""
    return USUAL if stored is None else frozenset(each for each in PARTS if each in stored.split(","))


def no_assignment(assignment_id: str) -> AssignmentNotFound:
    return AssignmentNotFound(f"This course has no assignment with the id {assignment_id[:64]!r}.")


def _course(row: CourseRow, students: int = 0, member: MemberRow | None = None, *, is_taught: bool = False) -> Course:
    is_assisted = member is not None and member.role == "assistant"
    return Course(
        row.id,
        row.name,
        row.time_zone,
        row.join_code,
        row.created_at,
        students,
        row.archived_at,
        is_taught,
        is_assisted,
        read_rights(member.rights) if member is not None and is_assisted else frozenset(),
    )


def no_course(course_id: str) -> CourseNotFound:
    return CourseNotFound(f"You are not in a course with the id {course_id[:64]!r}. To join one, enter its join code.")
