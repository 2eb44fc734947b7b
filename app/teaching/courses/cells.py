"""A cell of the gradebook, a student at a problem of an assignment: its attempts, and what is given to it by hand.

The only writer of marks. A mark and its entry in the audit log are one transaction. What an instructor or an owner gave
is changed again only by somebody whose role is at least theirs.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_REASON, record
from app.accounts.caller import User
from app.accounts.givers import GIVEN_BY, change_refusal, giver_of
from app.accounts.models import UserRow
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Database
from app.core.errors import FieldInvalid, PersonNotFound, ProblemNotFound, RoleMissing
from app.core.ids import is_id
from app.teaching.courses.due_dates import is_over
from app.teaching.courses.errors import CellRefused
from app.teaching.courses.grade_arithmetic import Rules, Weighed, judge, weigh
from app.teaching.courses.gradebook import Cell, Column, attempts_of, cell_of, columns_of, rules_of
from app.teaching.courses.marks import Kind, marks_of
from app.teaching.courses.members import Account
from app.teaching.courses.models import MarkRow, MemberRow
from app.teaching.courses.service import MOST_POINTS, Assignment, Course
from app.teaching.courses.student_dates import last_deadline, read_dates


@dataclass(frozen=True, slots=True)
class NewMark:
    """`points` and `maximum` have at most two decimals. An excuse has neither, and only a rubric has a maximum."""

    reason: str
    is_shown: bool = False
    points: float = 0
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class CellView:
    """All attempts of the student at the problem, in the order in which they were sent, with what each is worth. The
    column has no other problems.
    """

    course: Course
    column: Column
    person: Account
    rules: Rules
    cell: Cell
    attempts: tuple[Weighed, ...]


class Cells:
    """Safe to share between requests. The routes check that the caller reads the gradebook of the course."""

    def __init__(self, database: Database, on_changed: Callable[[AsyncSession, str, str], Awaitable[None]]) -> None:
        self._database = database
        self._on_changed = on_changed

    async def read(self, course: Course, assignment: Assignment, problem: str, person_id: str) -> CellView:
        """Raises `ProblemNotFound` and `PersonNotFound`."""
        column = _column(assignment, problem)
        async with self._database.reading() as session:
            person = await _student(session, course, person_id)
            column = _of_student(column, person, problem)
            dates = await read_dates(session, course.id, person.id)
            marks = await marks_of(session, course.id, person.id)
            sent = await attempts_of(session, course, assignment, problem, person.id)
        rules = rules_of(course, assignment, dates, person.id)
        cell = cell_of(
            column.points, judge(sent, rules), marks.get((person.id, assignment.id, problem), ()), rules, now()
        )
        return CellView(course, column, person, rules, cell, tuple(weigh(sent, rules)))

    async def change(
        self,
        actor: User,
        course: Course,
        assignment: Assignment,
        problem: str,
        person_id: str,
        changes: Mapping[Kind, NewMark | None],
    ) -> None:
        """Give or replace these marks, or take back those that are None. What is as it was before stays untouched.

        Raises:
          FieldInvalid, ProblemNotFound, PersonNotFound.
          CellRefused: points are given in an exam that is still open.
          RoleMissing: a mark is by somebody with a higher role, or the cell is the actor's own.
        """
        column = _column(assignment, problem)
        rows = {kind: None if each is None else _row(kind, each, column) for kind, each in changes.items()}
        async with self._database.writing() as session:
            # Of two changes at once, the second waits here and then sees the first.
            person = await _student(session, course, person_id, lock=True)
            if person.id == actor.id:
                raise RoleMissing("This cell is your own. Somebody else has to change it.")
            column = _of_student(column, person, problem)
            changed = [await _write(session, actor, course, column, person.id, kind, new) for kind, new in rows.items()]
            if any(changed):
                await session.flush()
                await self._on_changed(session, person.id, problem)


def _column(assignment: Assignment, problem: str) -> Column:
    for each in columns_of([assignment]):
        if problem in each.problems:
            return each
    raise ProblemNotFound(f"The assignment {assignment.name!r} has no problem {problem[:64]!r}.")


def _of_student(column: Column, person: Account, problem: str) -> Column:
    """The column as this student has it, with one problem. Raises `ProblemNotFound` if they got another of the pool."""
    drawn = column.drawn(person.id)
    if drawn != problem:
        raise ProblemNotFound(f"{person.name} did not get the problem {problem}, but {drawn} of the same pool.")
    return replace(column, problem=drawn, pool=())


async def _student(session: AsyncSession, course: Course, person_id: str, *, lock: bool = False) -> Account:
    key = (course.id, person_id)
    member = await session.get(MemberRow, key, with_for_update=lock) if is_id(person_id) else None
    user = await session.get(UserRow, person_id) if member is not None and member.role == "student" else None
    if user is None:
        raise PersonNotFound(f"No student of this course has the id {person_id[:64]!r}.")
    return Account(user.id, user.name)


def _row(kind: Kind, new: NewMark, column: Column) -> MarkRow:
    """Checked, and not yet anyone's. Raises `FieldInvalid`."""
    most: int | None = None
    if kind == "rubric":
        most = _hundredths(kind, "maximum", new.maximum or 0)
        _within(kind, "maximum", most, 1, MOST_POINTS * 100)
    hundredths = 0 if kind == "excused" else _hundredths(kind, "points", new.points)
    match kind:
        case "override":
            _within(kind, "points", hundredths, 0, column.points * 100, " Anything above is a bonus.")
        case "rubric":
            _within(kind, "points", hundredths, 0, most or 0)
        case "bonus":
            _within(kind, "points", hundredths, 1, MOST_POINTS * 100)
        case "excused":
            pass
    # A rubric speaks for itself; whatever else changes a grade is explained.
    reason = check_line(f"{kind}.reason", new.reason, LONGEST_REASON, empty=kind == "rubric")
    return MarkRow(kind=kind, hundredths=hundredths, most_hundredths=most, reason=reason, is_shown=new.is_shown)


def _hundredths(kind: Kind, field: str, points: float) -> int:
    found = round(points * 100)
    if abs(points * 100 - found) > 1e-6:
        raise FieldInvalid(f"{kind}.{field}: give at most two decimals.")
    return found


def _within(kind: Kind, field: str, hundredths: int, least: int, most: int, more: str = "") -> None:
    if not least <= hundredths <= most:
        raise FieldInvalid(f"{kind}.{field}: give {least / 100:g} to {most / 100:g} points.{more}")


async def _write(
    session: AsyncSession, actor: User, course: Course, column: Column, person_id: str, kind: Kind, new: MarkRow | None
) -> bool:
    """Whether anything changed."""
    assignment = column.assignment
    row = await session.get(MarkRow, (assignment.id, column.problem, person_id, kind), with_for_update=True)
    if _values(row) == _values(new):
        return False
    before = _in_words(row)
    if row is not None:
        giver = await giver_of(session, row.user_id)
        if (refusal := change_refusal(actor, giver)) is not None:
            raise refusal
        before += f" by {GIVEN_BY[giver]}"
    if new is not None and kind != "excused":
        await _require_closed(session, assignment)
    if row is not None and new is None:
        await session.delete(row)
    elif new is not None:
        if row is None:
            row = MarkRow(assignment_id=assignment.id, problem=column.problem, whom_id=person_id, kind=kind)
            session.add(row)
        row.hundredths, row.most_hundredths = new.hundredths, new.most_hundredths
        row.reason, row.is_shown = new.reason, new.is_shown
        row.user_id, row.at = actor.id, now()
    detail = f"{kind}: {before} to {_in_words(new)}, {where(assignment, column.problem)}"
    record(session, actor, "cell-changed", person_id, new.reason if new else "", detail, course.id)
    return True


def where(assignment: Assignment, problem: str) -> str:
    """How the audit log names the cells of this problem."""
    return f"{problem} in assignment {assignment.id}"


async def _require_closed(session: AsyncSession, assignment: Assignment) -> None:
    """Students read the points of a cell, and so how they did. Raises `CellRefused`."""
    if not assignment.is_exam:
        return
    until: datetime = await last_deadline(session, assignment.id, assignment.due_at)
    if not is_over(until, now()):
        raise CellRefused(
            f"The exam {assignment.name!r} has not closed for everyone yet, and students would see these points. Give "
            "them once it has closed. You can excuse a student now."
        )


def _values(row: MarkRow | None) -> Sequence[object] | None:
    return None if row is None else (row.hundredths, row.most_hundredths, row.reason, row.is_shown)


def _in_words(row: MarkRow | None) -> str:
    if row is None:
        return "none"
    if row.kind == "excused":
        return "excused"
    points = f"{row.hundredths / 100:g}"
    most = "" if row.most_hundredths is None else f" of {row.most_hundredths / 100:g}"
    return f"{points}{most} {'point' if points == '1' and not most else 'points'}"
