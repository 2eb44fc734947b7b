"""The points of every student of a course at every problem of its assignments."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import case, exists, func, literal, select

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.rest.paging import ALL, Cursor, Page
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.score_overrides import OverrideRow
from app.grading.queue.withheld_verdicts import shown_only
from app.teaching.courses.due_dates import credit
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, ExtensionRow, MemberRow
from app.teaching.courses.service import Assignment, Course

Scores = Sequence[tuple[datetime, int]]
_NO_TIME = timedelta(0)
# Students that are read at once where a filter needs their points.
_AT_ONCE = 200
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Column:
    assignment: Assignment
    problem: str
    points: int


@dataclass(frozen=True, slots=True)
class Cell:
    """`points` is None if nothing that counts was submitted. `late` says that a late attempt gave the most.

    `changed_by_hand` says that an instructor changed the points of that attempt.
    """

    points: float | None
    late: bool = False
    changed_by_hand: bool = False


_EMPTY = Cell(None)


@dataclass(frozen=True, slots=True)
class Line:
    id: str
    name: str
    cells: tuple[Cell, ...]

    @property
    def total(self) -> float:
        return round(sum(each.points or 0 for each in self.cells), 2)


@dataclass(frozen=True, slots=True)
class LineFilter:
    """An empty value matches everyone. A student must match every value.

    `q` is a part of the name. `is_missing`: nothing that counts was submitted at a problem that has opened. `below`:
    less than this percentage of the points of all problems that have opened.
    """

    q: str = ""
    is_missing: bool = False
    below: int | None = None

    @property
    def needs_points(self) -> bool:
        return self.is_missing or self.below is not None

    def matches(self, line: Line, columns: Sequence[Column], moment: datetime) -> bool:
        cells = [
            (cell.points, column.points)
            for cell, column in zip(line.cells, columns, strict=True)
            if column.assignment.opens_at <= moment
        ]
        if self.is_missing and all(points is not None for points, _ in cells):
            return False
        most = sum(worth for _, worth in cells)
        return self.below is None or sum(points or 0 for points, _ in cells) * 100 < self.below * most


EVERY_LINE = LineFilter()


def columns_of(assignments: Sequence[Assignment]) -> list[Column]:
    return [Column(each, it.problem, it.points) for each in assignments for it in each.problems]


async def gradebook(
    database: Database,
    course: Course,
    columns: Sequence[Column],
    cursor: Cursor = ALL,
    only: str | None = None,
    *,
    matching: LineFilter = EVERY_LINE,
) -> Page[Line]:
    """By name. `only` is the id of a student who reads their own line, which has nothing that an exam hides."""
    limit, after = cursor.limit + 1, cursor.after
    if not matching.needs_points:
        lines = await _lines(database, course, columns, limit, after, only, matching.q)
        return Page.cut(lines, cursor, lambda line: line.name)
    found: list[Line] = []
    moment = now()
    while True:
        lines = await _lines(database, course, columns, _AT_ONCE, after, only, matching.q)
        found += [each for each in lines if matching.matches(each, columns, moment)]
        if len(lines) < _AT_ONCE or len(found) >= limit:
            return Page.cut(found, cursor, lambda line: line.name)
        after = lines[-1].name


async def _lines(
    database: Database,
    course: Course,
    columns: Sequence[Column],
    limit: int,
    after: str | None,
    only: str | None,
    name: str,
) -> list[Line]:
    students = (
        select(UserRow.id, UserRow.name)
        .join(MemberRow, MemberRow.user_id == UserRow.id)
        .where(MemberRow.course_id == course.id, MemberRow.role == "student")
        .order_by(UserRow.name)
        .limit(limit)
    )
    if after is not None:
        students = students.where(UserRow.name > after.replace("\0", ""))
    if only is not None:
        students = students.where(UserRow.id == only)
    if name:
        part = name[:_LONGEST_NAME].lower().replace("\0", "").encode(errors="replace").decode()
        students = students.where(UserRow.name.contains(part, autoescape=True))
    extended = (
        select(ExtensionRow.user_id, ExtensionRow.assignment_id, ExtensionRow.extra_minutes)
        .join(AssignmentRow, AssignmentRow.id == ExtensionRow.assignment_id)
        .where(AssignmentRow.course_id == course.id)
    )
    sent = _counted(course, students)
    async with database.reading() as session:
        people = (await session.execute(students)).all()
        if only is not None:
            sent = sent.where(*await shown_only(session, user_id=only))
        rows = (await session.execute(sent)).all()
        extra = {(each[0], each[1]): timedelta(minutes=each[2]) for each in await session.execute(extended)}
    cells = _cells(columns, rows, extra)
    keys = [(each.assignment.id, each.problem) for each in columns]
    return [Line(user_id, name, tuple(cells.get((user_id, *key), _EMPTY) for key in keys)) for user_id, name in people]


def _counted(course: Course, students: Any) -> Any:
    """The attempts that can give the most points, for each student at each problem of each assignment.

    In time, that is the highest score, whenever it was sent; late, the earliest attempt with each score. So the
    database returns about one row for each cell, and not one for each attempt. A score is doubled, and one more if
    nobody changed
    it by hand: of equal scores, that one counts.
    """
    row, within, assignment = AttemptRow, AssignmentProblemRow, AssignmentRow
    score = row.score * 2 + case((exists().where(OverrideRow.attempt_id == row.id), 0), else_=1)
    rank = case((row.created_at <= assignment.due_at, literal(-1)), else_=row.score)
    return (
        select(row.user_id, assignment.id, row.problem, func.min(row.created_at), func.max(score))
        .join(within, within.problem == row.problem)
        .join(assignment, assignment.id == within.assignment_id)
        .where(
            assignment.course_id == course.id,
            row.user_id.in_(select(students.subquery().c.id)),
            row.created_at >= assignment.opens_at,
            IS_SCORED,
        )
        .group_by(row.user_id, assignment.id, row.problem, rank)
    )


def _cells(
    columns: Sequence[Column], rows: Sequence[Any], extra: dict[tuple[str, str], timedelta]
) -> dict[tuple[str, str, str], Cell]:
    """By student, assignment and problem."""
    by_key = {(each.assignment.id, each.problem): each for each in columns}
    best: dict[tuple[str, str, str], tuple[int, bool, bool]] = {}
    for user_id, assignment_id, problem, sent_at, doubled in rows:
        column = by_key.get((assignment_id, problem))
        if column is None:
            continue
        due_at = column.assignment.due_at + extra.get((user_id, assignment_id), _NO_TIME)
        late_percent = column.assignment.late_percent
        is_late = sent_at > due_at
        if is_late and late_percent is None:
            continue
        score, as_judged = divmod(doubled, 2)
        # In hundredths of a percent, so that equal credit is equal. Of two with equal credit, one in time counts.
        counted = (score * credit(sent_at, due_at, late_percent), not is_late, bool(as_judged))
        key = (user_id, assignment_id, problem)
        if key not in best or counted > best[key]:
            best[key] = counted
    return {
        key: Cell(round(by_key[key[1:]].points * most / 10_000, 2), not in_time, not as_judged)
        for key, (most, in_time, as_judged) in best.items()
    }
