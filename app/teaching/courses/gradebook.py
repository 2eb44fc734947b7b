"""The points of every student of a course at every problem of its assignments, and their percentage of the course.

The numbers are those of app/teaching/courses/grade_arithmetic.py. This module reads what they are computed from.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, exists, func, literal, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.errors import PersonNotFound
from app.core.rest.paging import ALL, Cursor, Page
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.score_overrides import OverrideRow
from app.grading.queue.withheld_verdicts import ALL_EXAMS, NO_EXAM, SeenExams, shown_only
from app.teaching.courses.categories import categories_of
from app.teaching.courses.due_dates import is_over
from app.teaching.courses.grade_arithmetic import (
    Category,
    Judged,
    Part,
    Points,
    Rules,
    Sent,
    Total,
    judge,
    points,
    shown_points,
    total,
)
from app.teaching.courses.marks import Mark, amounts_of, marks_of
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, MemberRow, RosterLineRow
from app.teaching.courses.roster_lines import RosterLines, in_section, is_named
from app.teaching.courses.service import Assignment, Course
from app.teaching.courses.student_dates import StudentDates, read_dates
from app.teaching.identities.identity import RosterIdentity

Key = tuple[str, str, str]
# Students that are read at once where a filter needs their points.
_AT_ONCE = 200
_NOTHING = Total(None)
_REAL_NAME = func.coalesce(func.nullif(RosterLineRow.name, ""), UserRow.name)
_PLACE = (
    func.lower(func.coalesce(func.nullif(RosterLineRow.family_name, ""), _REAL_NAME)),
    func.lower(_REAL_NAME),
    UserRow.name,
)


@dataclass(frozen=True, slots=True)
class Column:
    """`pool` has the other problems of which a student may have got one instead of `problem`."""

    assignment: Assignment
    problem: str
    points: int
    pool: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        return (self.problem, *self.pool)

    def drawn(self, user_id: str) -> str:
        """The one of the problems that the student got: their cell is at it."""
        return self.assignment.drawn(user_id, self.problems) if self.pool else self.problem


@dataclass(frozen=True, slots=True)
class Cell:
    """`late` says that an attempt that counts was late, and `changed_by_hand` that its points are not the verdict's, or
    that the cell has an override. `has_opened` and `is_closed` are by the dates of the student; once it is closed,
    nothing is in time any more.
    """

    amounts: Points
    late: bool = False
    changed_by_hand: bool = False
    marks: tuple[Mark, ...] = ()
    has_opened: bool = True
    is_closed: bool = False

    @property
    def points(self) -> float | None:
        """None if nothing that counts was submitted or given."""
        return None if self.amounts.earned is None else shown_points(self.amounts.earned)

    @property
    def possible(self) -> float:
        """Zero if the student is excused."""
        return shown_points(self.amounts.possible)

    @property
    def is_excused(self) -> bool:
        return any(each.kind == "excused" for each in self.marks)

    @property
    def bonus(self) -> float:
        return sum(each.points or 0 for each in self.marks if each.kind == "bonus")


@dataclass(frozen=True, slots=True)
class Line:
    id: str
    name: str
    cells: tuple[Cell, ...]
    grade: Total = _NOTHING
    identity: RosterIdentity | None = None

    @property
    def total(self) -> float:
        return shown_points(sum(each.amounts.earned or 0 for each in self.cells))

    @property
    def possible(self) -> float:
        return shown_points(sum(each.amounts.possible for each in self.cells))

    @property
    def percent(self) -> float | None:
        """Of what has opened, by the weights of the course. None as long as nothing counts."""
        return self.grade.percent


@dataclass(frozen=True, slots=True)
class LineFilter:
    """An empty value matches everyone. A student must match every value.

    `q` is a part of the name, or of the name, address or number on the roster. `is_missing`: nothing that counts was
    submitted at a problem that has opened. `below`: less than this percentage of the course.
    """

    q: str = ""
    is_missing: bool = False
    below: int | None = None
    section: str = ""

    @property
    def needs_points(self) -> bool:
        return self.is_missing or self.below is not None

    def matches(self, line: Line) -> bool:
        missing = (each.amounts.earned is None and not each.is_excused for each in line.cells if each.has_opened)
        if self.is_missing and not any(missing):
            return False
        return self.below is None or (line.grade.ratio is not None and line.grade.ratio * 100 < self.below)


EVERY_LINE = LineFilter()


def columns_of(assignments: Sequence[Assignment]) -> list[Column]:
    return [
        Column(each, first.problem, first.points, tuple(other.problem for other in others))
        for each in assignments
        for first, *others in each.places
    ]


async def gradebook(
    database: Database,
    course: Course,
    columns: Sequence[Column],
    cursor: Cursor = ALL,
    only: str | None = None,
    *,
    matching: LineFilter = EVERY_LINE,
) -> Page[Line]:
    """By real name: the family name on the roster, else the name there, else the name of the account.

    `only` is the id of a student who reads their own line, which has nothing that an exam hides. Raises
    `PersonNotFound` for the cursor, which names an account.
    """
    limit, after = cursor.limit + 1, cursor.after
    if not matching.needs_points:
        lines = await _lines(database, course, columns, limit, after, only, matching)
        return Page.cut(lines, cursor, lambda line: line.name)
    found: list[Line] = []
    while True:
        lines = await _lines(database, course, columns, _AT_ONCE, after, only, matching)
        found += [each for each in lines if matching.matches(each)]
        if len(lines) < _AT_ONCE or len(found) >= limit:
            return Page.cut(found, cursor, lambda line: line.name)
        after = lines[-1].name


def rules_of(course: Course, assignment: Assignment, dates: StudentDates, user_id: str) -> Rules:
    """What holds for this student at this assignment."""
    opens_at, due_at = dates.of(assignment, user_id)
    return Rules(
        opens_at, due_at, assignment.late_percent, course.time_zone, assignment.grace_minutes, assignment.counted
    )


async def attempts_of(
    session: AsyncSession, course: Course, assignment: Assignment, problem: str, user_id: str
) -> list[Sent]:
    """All scored attempts of one student at one problem, whether they count or not, until the course was archived."""
    query = _every([assignment.id], [user_id]).where(AttemptRow.problem == problem)
    shown = await shown_only(session, user_id=user_id, seen=await seen_by_staff(session, course))
    rows = await session.execute(query.where(*shown, *_until_archived(course)))
    return [sent for _, sent in map(_sent, rows)]


async def _lines(
    database: Database,
    course: Course,
    columns: Sequence[Column],
    limit: int,
    after: str | None,
    only: str | None,
    matching: LineFilter,
) -> list[Line]:
    students = (
        select(UserRow.id, UserRow.name)
        .join(MemberRow, MemberRow.user_id == UserRow.id)
        .outerjoin(RosterLineRow, and_(RosterLineRow.course_id == course.id, RosterLineRow.user_id == UserRow.id))
        .where(MemberRow.course_id == course.id, MemberRow.role == "student")
        .order_by(*_PLACE)
        .limit(limit)
    )
    if only is not None:
        students = students.where(UserRow.id == only)
    students = students.where(*is_named(matching.q), *in_section(matching.section))
    async with database.reading() as session:
        if after is not None:
            students = students.where(tuple_(*_PLACE) > tuple_(*await _place_of(session, course, after)))
        people = (await session.execute(students)).all()
        dates = await read_dates(session, course.id, only)
        marks = await marks_of(session, course.id, only)
        categories = await categories_of(session, course.id)
        seen = await seen_by_staff(session, course) if only is None else NO_EXAM
        hidden = [*await shown_only(session, user_id=only, seen=seen), *_until_archived(course)]
        sent: dict[Key, list[Sent]] = defaultdict(list)
        for query in _queries(columns, dates, select(students.subquery().c.id)):
            for key, each in map(_sent, await session.execute(query.where(*hidden))):
                sent[key].append(each)
    # A student reads no roster.
    known = await RosterLines(database).of_course(course.id, [each[0] for each in people]) if only is None else {}
    moment = now()
    return [
        _line(user_id, each, course, columns, dates, sent, marks, categories, moment, known.get(user_id))
        for user_id, each in people
    ]


async def _place_of(session: AsyncSession, course: Course, name: str) -> Any:
    """The place of this account in the order, even after it has left the course. Raises `PersonNotFound`."""
    line = RosterLineRow
    query = select(*_PLACE).select_from(UserRow)
    query = query.outerjoin(line, and_(line.course_id == course.id, line.user_id == UserRow.id))
    place = (await session.execute(query.where(UserRow.name == name.replace("\0", "")))).first()
    if place is None:
        raise PersonNotFound(f"after: no account has the name {name[:64]!r}. Read the gradebook from its first page.")
    return place


async def seen_by_staff(session: AsyncSession, course: Course) -> SeenExams:
    """The exams whose verdicts the reader of the gradebook sees: all, but for an assistant only those of the course."""
    if course.is_taught:
        return ALL_EXAMS
    exams = select(AssignmentRow.id).where(AssignmentRow.course_id == course.id, AssignmentRow.is_exam)
    return SeenExams(frozenset(await session.scalars(exams)))


def _until_archived(course: Course) -> list[ColumnElement[bool]]:
    return [] if course.archived_at is None else [AttemptRow.created_at < course.archived_at]


def _queries(columns: Sequence[Column], dates: StudentDates, students: Any) -> list[Any]:
    """The attempts of these students, few of them wherever the best one counts."""
    assignments = {each.assignment.id: each.assignment for each in columns}
    few = [key for key, each in assignments.items() if each.counted == "best" and not dates.has_sections(key)]
    others = [key for key in assignments if key not in few]
    return [query(keys, students) for query, keys in ((_best, few), (_every, others)) if keys]


def _best(assignment_ids: Sequence[str], students: Any) -> Any:
    """The attempts that can give the most points, for each student at each problem of each assignment.

    In time, that is the highest score, whenever it was sent; late, the earliest attempt with each score. So the
    database returns about one row for each cell, and not one for each attempt. What was sent in the minute of the
    deadline, in the grace period or in extra time is among the late ones here; the arithmetic counts it as in time. A
    score is doubled, and one more if nobody changed it by hand: of equal scores, that one counts.
    """
    row, assignment = AttemptRow, AssignmentRow
    score = row.score * 2 + case((exists().where(OverrideRow.attempt_id == row.id), 0), else_=1)
    rank = case((row.created_at <= assignment.due_at, literal(-1)), else_=row.score)
    return (
        _at_assignments(
            select(row.user_id, assignment.id, row.problem, func.min(row.created_at), func.max(score), literal("")),
            assignment_ids,
            students,
        )
        .where(row.created_at >= assignment.opens_at)
        .group_by(row.user_id, assignment.id, row.problem, rank)
    )


def _every(assignment_ids: Sequence[str], students: Any) -> Any:
    row = AttemptRow
    score = row.score * 2 + case((exists().where(OverrideRow.attempt_id == row.id), 0), else_=1)
    query = select(row.user_id, AssignmentRow.id, row.problem, row.created_at, score, row.id)
    return _at_assignments(query, assignment_ids, students)


def _at_assignments(query: Any, assignment_ids: Sequence[str], students: Any) -> Any:
    row, within, assignment = AttemptRow, AssignmentProblemRow, AssignmentRow
    return (
        query.join(within, within.problem == row.problem)
        .join(assignment, assignment.id == within.assignment_id)
        .where(assignment.id.in_(assignment_ids), row.user_id.in_(students), IS_SCORED)
    )


def _sent(row: Any) -> tuple[Key, Sent]:
    user_id, assignment_id, problem, sent_at, doubled, attempt_id = row
    score, as_judged = divmod(doubled, 2)
    return (user_id, assignment_id, problem), Sent(sent_at, score, not as_judged, attempt_id)


def _line(
    user_id: str,
    name: str,
    course: Course,
    columns: Sequence[Column],
    dates: StudentDates,
    sent: Mapping[Key, Sequence[Sent]],
    marks: Mapping[Key, tuple[Mark, ...]],
    categories: Sequence[Category],
    moment: datetime,
    identity: RosterIdentity | None,
) -> Line:
    rules = {
        each.assignment.id: rules_of(course, each.assignment, dates, user_id)
        for each in {each.assignment.id: each for each in columns}.values()
    }
    cells = []
    for column in columns:
        key = (user_id, column.assignment.id, column.drawn(user_id))
        of_student = rules[column.assignment.id]
        attempts = sent.get(key)
        judged = judge(attempts, of_student) if attempts else None
        cells.append(cell_of(column.points, judged, marks.get(key, ()), of_student, moment))
    return Line(user_id, name, tuple(cells), total(_parts(columns, cells), categories), identity)


def cell_of(worth: int, judged: Judged | None, marks: tuple[Mark, ...], rules: Rules, moment: datetime) -> Cell:
    by_hand = amounts_of(marks) if marks else None
    counts = judged is not None and not (by_hand and (by_hand.is_excused or by_hand.override is not None))
    return Cell(
        amounts=points(worth, judged, by_hand) if by_hand else points(worth, judged),
        late=judged is not None and judged.is_late and counts,
        changed_by_hand=(judged is not None and judged.by_hand and counts)
        or any(each.kind == "override" for each in marks),
        marks=marks,
        has_opened=rules.opens_at <= moment,
        is_closed=is_over(rules.due_at, moment),
    )


def _parts(columns: Sequence[Column], cells: Sequence[Cell]) -> list[Part]:
    """What counts in the percentage: the assignments that have opened for the student."""
    found: dict[str, Part] = {}
    for column, cell in zip(columns, cells, strict=True):
        if not cell.has_opened:
            continue
        each = column.assignment
        before = found.get(each.id) or Part(each.id, 0, 0, each.weight, each.category)
        earned, possible = before.earned + (cell.amounts.earned or 0), before.possible + cell.amounts.possible
        found[each.id] = Part(each.id, earned, possible, each.weight, each.category)
    return list(found.values())
