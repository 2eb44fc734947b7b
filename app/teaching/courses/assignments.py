"""What instructors do to assignments: create, change and withdraw them. The only writer of these tables.

Points are computed when they are read, so a change counts at once for everything that was already sent. A change and
its entry in the audit log are one transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_DETAIL, check_reason, record
from app.accounts.caller import User
from app.accounts.text_rules import check_line
from app.core.database import Database
from app.core.errors import FieldInvalid
from app.core.ids import is_id, new_id
from app.problems.catalogue import Catalogue
from app.teaching.courses.due_dates import to_local
from app.teaching.courses.errors import AssignmentInvalid
from app.teaching.courses.exams import show_again, withhold
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow
from app.teaching.courses.service import (
    LONGEST_NAME,
    MOST_POINTS,
    MOST_PROBLEMS,
    AssignedProblem,
    Assignment,
    Course,
    assignment_of,
    no_assignment,
)

MOST_ATTEMPTS = 1000
LONGEST_COOL_DOWN = 7 * 24 * 60


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything that an instructor chooses about an assignment, not yet checked."""

    name: str
    opens_at: datetime
    due_at: datetime
    late_percent: int | None
    problems: Sequence[AssignedProblem]
    attempt_limit: int | None = None
    cool_down_minutes: int | None = None
    is_exam: bool = False


class AssignmentChanges:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self._database = database
        self._catalogue = catalogue

    async def create(self, course: Course, terms: Terms) -> Assignment:
        """Raises `FieldInvalid`, `AssignmentInvalid` and `ProblemNotFound`."""
        self._check(terms)
        row = AssignmentRow(id=new_id(), course_id=course.id)
        _write(row, terms)
        async with self._database.writing() as session:
            session.add(row)
            await session.flush()
            session.add_all(_problem_rows(row.id, terms))
            await session.flush()
            await withhold(session, assignment_of(row, terms.problems), course.id)
        return assignment_of(row, terms.problems)

    async def change(
        self, user: User, course: Course, before: Assignment, terms: Terms, reason: str = ""
    ) -> Assignment:
        """Replace all of it. If nothing changes, the audit log gets no entry.

        Raises:
          FieldInvalid, AssignmentInvalid, AssignmentNotFound.
          ProblemNotFound: one that was not in it before. A withdrawn problem may stay.
        """
        reason = check_reason(reason)
        self._check(terms, {each.problem for each in before.problems})
        async with self._database.writing() as session:
            row = await _find(session, course, before.id)
            _write(row, terms)
            after = assignment_of(row, terms.problems)
            if before.problems != after.problems:
                await session.execute(delete(AssignmentProblemRow).where(AssignmentProblemRow.assignment_id == row.id))
                session.add_all(_problem_rows(row.id, terms))
            if before != after:
                await session.flush()
                await withhold(session, after, course.id)
                detail = f"{before.name} of {course.name}: {'; '.join(_changes(course, before, after))}"
                record(session, user, "assignment-changed", None, reason, detail[:LONGEST_DETAIL])
        return after

    async def withdraw(self, user: User, course: Course, assignment_id: str, reason: str = "") -> None:
        """Attempts stay. Raises `FieldInvalid` and `AssignmentNotFound`."""
        reason = check_reason(reason)
        async with self._database.writing() as session:
            row = await _find(session, course, assignment_id)
            detail = f"{row.name} of {course.name}"
            await session.delete(row)
            await show_again(session, assignment_id)
            record(session, user, "assignment-withdrawn", None, reason, detail[:LONGEST_DETAIL])

    def _check(self, terms: Terms, known: frozenset[str] | set[str] = frozenset()) -> None:
        check_line("name", terms.name, LONGEST_NAME)
        if terms.due_at <= terms.opens_at:
            raise AssignmentInvalid("due: must be after opens.")
        if terms.late_percent is not None and not 1 <= terms.late_percent <= 100:
            raise FieldInvalid("late_percent: give 1 to 100 percent per day, or nothing.")
        if terms.attempt_limit is not None and not 1 <= terms.attempt_limit <= MOST_ATTEMPTS:
            raise FieldInvalid(f"attempt_limit: give 1 to {MOST_ATTEMPTS} attempts, or nothing.")
        if terms.cool_down_minutes is not None and not 1 <= terms.cool_down_minutes <= LONGEST_COOL_DOWN:
            raise FieldInvalid(f"cool_down_minutes: give 1 to {LONGEST_COOL_DOWN} minutes, or nothing.")
        if terms.is_exam and terms.late_percent is not None:
            raise AssignmentInvalid("late_percent: an exam closes when it is due. Leave this empty, or turn off exam.")
        if not 1 <= len(terms.problems) <= MOST_PROBLEMS:
            raise FieldInvalid(f"problems: give 1 to {MOST_PROBLEMS} problems.")
        seen: set[str] = set()
        for place, each in enumerate(terms.problems, 1):
            if each.problem not in known:
                self._catalogue.get(each.problem)
            if not 0 <= each.points <= MOST_POINTS:
                raise FieldInvalid(f"problems: problem {place} needs 0 to {MOST_POINTS} points.")
            if each.problem in seen:
                raise AssignmentInvalid(f"problems: {each.problem!r} appears twice.")
            seen.add(each.problem)


def _write(row: AssignmentRow, terms: Terms) -> None:
    row.name = terms.name.strip()
    row.opens_at, row.due_at = terms.opens_at, terms.due_at
    row.late_percent = terms.late_percent
    row.attempt_limit, row.cool_down_minutes = terms.attempt_limit, terms.cool_down_minutes
    row.is_exam = terms.is_exam


def _problem_rows(assignment_id: str, terms: Terms) -> list[AssignmentProblemRow]:
    return [
        AssignmentProblemRow(assignment_id=assignment_id, position=place, problem=each.problem, points=each.points)
        for place, each in enumerate(terms.problems)
    ]


def _changes(course: Course, before: Assignment, after: Assignment) -> list[str]:
    """What differs, in words for the audit log."""
    pairs = zip(_in_words(course, before), _in_words(course, after), strict=True)
    return [f"{name} {old} to {new}" for (name, old), (_, new) in pairs if old != new]


def _in_words(course: Course, each: Assignment) -> list[tuple[str, str]]:
    opens, due = (f"{to_local(moment, course.time_zone):%Y-%m-%dT%H:%M}" for moment in (each.opens_at, each.due_at))
    return [
        ("name", each.name),
        ("opens", opens),
        ("due", due),
        ("late_percent", str(each.late_percent or "none")),
        ("attempt_limit", str(each.attempt_limit or "none")),
        ("cool_down_minutes", str(each.cool_down_minutes or "none")),
        ("exam", "yes" if each.is_exam else "no"),
        ("problems", ", ".join(f"{it.problem} {it.points}" for it in each.problems)),
    ]


async def _find(session: AsyncSession, course: Course, assignment_id: str) -> AssignmentRow:
    row = await session.get(AssignmentRow, assignment_id, with_for_update=True) if is_id(assignment_id) else None
    if row is None or row.course_id != course.id:
        raise no_assignment(assignment_id)
    return row
