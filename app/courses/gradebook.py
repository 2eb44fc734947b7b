"""The points of every student of a course at every problem of its assignments."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import select

from app.accounts.models import UserRow
from app.courses.due import credit
from app.courses.models import MemberRow
from app.courses.service import Assignment, Course
from app.database import Database
from app.queue.models import IS_SCORED, AttemptRow

Scores = Sequence[tuple[datetime, int]]


@dataclass(frozen=True, slots=True)
class Column:
    assignment: Assignment
    problem: str
    points: int


@dataclass(frozen=True, slots=True)
class Cell:
    """`points` is None if nothing that counts was sent. `late` says that a late attempt gave the most."""

    points: float | None
    late: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    id: str
    name: str
    cells: tuple[Cell, ...]

    @property
    def total(self) -> float:
        return round(sum(each.points or 0 for each in self.cells), 2)


def columns_of(assignments: Sequence[Assignment]) -> list[Column]:
    return [Column(each, it.problem, it.points) for each in assignments for it in each.problems]


async def gradebook(
    database: Database,
    course: Course,
    columns: Sequence[Column],
    limit: int | None = None,
    after: str | None = None,
    only: str | None = None,
) -> list[Line]:
    """By name, in two queries. `after` is the name of the last student of the previous page; `only` is one id."""
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
    row = AttemptRow
    chosen = students.subquery()
    sent = (
        select(row.user_id, row.problem, row.created_at, row.score)
        .where(
            row.user_id.in_(select(chosen.c.id)),
            row.problem.in_({each.problem for each in columns}),
            IS_SCORED,
        )
        .order_by(row.user_id, row.problem)
    )
    async with database.reading() as session:
        people = (await session.execute(students)).all()
        rows = (await session.execute(sent)).all()
    scores = {
        key: [(each[2], each[3] or 0) for each in group]
        for key, group in groupby(rows, key=lambda each: (each[0], each[1]))
    }
    return [
        Line(user_id, name, tuple(_cell(each, scores.get((user_id, each.problem), ())) for each in columns))
        for user_id, name in people
    ]


def _cell(column: Column, scores: Scores) -> Cell:
    best, late = -1, False
    assignment = column.assignment
    for sent_at, score in scores:
        if sent_at < assignment.opens_at:
            continue
        percent = credit(sent_at, assignment.due_at, assignment.late_percent)
        is_late = sent_at > assignment.due_at
        if is_late and assignment.late_percent is None:
            continue
        # In hundredths of a percent, so that equal credit is equal.
        if score * percent > best:
            best, late = score * percent, is_late
    return Cell(None) if best < 0 else Cell(round(column.points * best / 10_000, 2), late)
