"""What instructors do to assignments: create, change and withdraw them. The only writer of these tables.

Points are computed when they are read, so a change counts at once for everything that was already sent. A change and
its entry in the audit log are one transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import LONGEST_DETAIL, check_reason, record
from app.accounts.caller import User
from app.accounts.passwords import Passwords
from app.accounts.text_rules import check_line
from app.core.database import Database
from app.core.errors import FieldInvalid
from app.core.ids import is_id, new_id
from app.problems.catalogue import Catalogue
from app.problems.exams import PARTS, USUAL, Part
from app.teaching.courses.categories import MOST_WEIGHT, require_category
from app.teaching.courses.due_dates import written_local
from app.teaching.courses.errors import AssignmentInvalid
from app.teaching.courses.exam_access import LONGEST_DURATION
from app.teaching.courses.exams import show_again, withhold
from app.teaching.courses.form_lines import line_of_place
from app.teaching.courses.grade_arithmetic import RULES, Rule
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow
from app.teaching.courses.service import (
    LONGEST_NAME,
    MOST_POINTS,
    MOST_PROBLEMS,
    AssignedProblem,
    Assignment,
    ClosedFor,
    Course,
    assignment_of,
    no_assignment,
)

MOST_ATTEMPTS = 1000
LONGEST_COOL_DOWN = 7 * 24 * 60
# It is read out in the room, and guessing is slowed down.
SHORTEST_PASSWORD, LONGEST_PASSWORD = 4, 100
LONGEST_GRACE = 7 * 24 * 60


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
    closes: frozenset[Part] = USUAL
    closed_for: ClosedFor = "students"
    duration_minutes: int | None = None
    # None leaves the password as it is, and an empty one removes it.
    password: str | None = field(default=None, repr=False)
    addresses: tuple[str, ...] = ()
    counted: Rule = "best"
    grace_minutes: int = 0
    weight: int | None = None
    category: str | None = None


class AssignmentChanges:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database, catalogue: Catalogue, passwords: Passwords) -> None:
        self._database = database
        self._catalogue = catalogue
        self._passwords = passwords

    async def create(self, user: User, course: Course, terms: Terms) -> Assignment:
        """Raises `FieldInvalid`, `AssignmentInvalid` and `ProblemNotFound`."""
        self._check(terms)
        row = AssignmentRow(id=new_id(), course_id=course.id)
        _write(row, terms, await self._password_hash(terms, None))
        async with self._database.writing() as session:
            await require_category(session, course.id, terms.category)
            session.add(row)
            await session.flush()
            session.add_all(_problem_rows(row.id, terms))
            await session.flush()
            await withhold(session, assignment_of(row, terms.problems), course.id)
            detail = f"{row.name} of {course.name}"
            record(session, user, "assignment-created", None, "", detail[:LONGEST_DETAIL], course.id)
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
        password_hash = await self._password_hash(terms, before.password_hash)
        async with self._database.writing() as session:
            row = await _find(session, course, before.id)
            await require_category(session, course.id, terms.category)
            _write(row, terms, password_hash)
            after = assignment_of(row, terms.problems)
            if before.problems != after.problems:
                await session.execute(delete(AssignmentProblemRow).where(AssignmentProblemRow.assignment_id == row.id))
                session.add_all(_problem_rows(row.id, terms))
            if before != after:
                await session.flush()
                await withhold(session, after, course.id)
                detail = f"{before.name} of {course.name}: {'; '.join(_changes(course, before, after))}"
                record(session, user, "assignment-changed", None, reason, detail[:LONGEST_DETAIL], course.id)
        return after

    async def withdraw(self, user: User, course: Course, assignment_id: str, reason: str = "") -> None:
        """Attempts stay. Raises `FieldInvalid` and `AssignmentNotFound`."""
        reason = check_reason(reason)
        async with self._database.writing() as session:
            row = await _find(session, course, assignment_id)
            detail = f"{row.name} of {course.name}"
            await session.delete(row)
            await show_again(session, assignment_id)
            record(session, user, "assignment-withdrawn", None, reason, detail[:LONGEST_DETAIL], course.id)

    async def _password_hash(self, terms: Terms, before: str | None) -> str | None:
        if not terms.is_exam or terms.password == "":
            return None
        return before if terms.password is None else await self._passwords.hash(terms.password)

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
        if terms.duration_minutes is not None and not 1 <= terms.duration_minutes <= LONGEST_DURATION:
            raise FieldInvalid(f"duration_minutes: give 1 to {LONGEST_DURATION} minutes, or nothing.")
        if terms.password and not SHORTEST_PASSWORD <= len(terms.password) <= LONGEST_PASSWORD:
            raise FieldInvalid(f"password: give {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters, or nothing.")
        if terms.counted not in RULES:
            raise FieldInvalid(f"counted: must be {', '.join(RULES[:-1])} or {RULES[-1]}.")
        if not 0 <= terms.grace_minutes <= LONGEST_GRACE:
            raise FieldInvalid(f"grace_minutes: give 0 to {LONGEST_GRACE} minutes.")
        if terms.is_exam and terms.grace_minutes:
            raise AssignmentInvalid(
                "grace_minutes: an exam closes when it is due. Leave this empty, or give students extra time instead."
            )
        if terms.weight is not None and not 0 <= terms.weight <= MOST_WEIGHT:
            raise FieldInvalid(f"weight: give 0 to {MOST_WEIGHT}, or nothing.")
        if not 1 <= len(terms.problems) <= MOST_PROBLEMS:
            raise FieldInvalid(f"problems: give 1 to {MOST_PROBLEMS} problems.")
        seen: set[str] = set()
        for place, each in enumerate(terms.problems, 1):
            if each.problem not in known:
                self._catalogue.get(each.problem)
            if not 0 <= each.points <= MOST_POINTS:
                raise FieldInvalid(f"problems: problem {place} needs 0 to {MOST_POINTS} points.")
            pool = [other for other in terms.problems if each.pool is not None and other.pool == each.pool]
            if any(other.points != each.points for other in pool):
                raise AssignmentInvalid(f"problems: {each.problem!r} needs as many points as the others of its pool.")
            if pool and not terms.is_exam:
                raise AssignmentInvalid("problems: only an exam has pools of problems.")
            if each.problem in seen:
                raise AssignmentInvalid(f"problems: {each.problem!r} appears twice.")
            seen.add(each.problem)


def _write(row: AssignmentRow, terms: Terms, password_hash: str | None) -> None:
    row.name = terms.name.strip()
    row.opens_at, row.due_at = terms.opens_at, terms.due_at
    row.late_percent = terms.late_percent
    row.attempt_limit, row.cool_down_minutes = terms.attempt_limit, terms.cool_down_minutes
    row.is_exam = terms.is_exam
    row.closes = None if terms.closes == USUAL else ",".join(each for each in PARTS if each in terms.closes)
    row.closed_for = terms.closed_for if terms.closed_for == "everyone" else None
    row.duration_minutes = terms.duration_minutes if terms.is_exam else None
    row.password_hash = password_hash
    row.addresses = (" ".join(terms.addresses) or None) if terms.is_exam else None
    row.counted, row.grace_minutes = terms.counted, terms.grace_minutes
    row.weight, row.category = terms.weight, terms.category


def _problem_rows(assignment_id: str, terms: Terms) -> list[AssignmentProblemRow]:
    return [
        AssignmentProblemRow(
            assignment_id=assignment_id, position=place, problem=each.problem, points=each.points, pool=each.pool
        )
        for place, each in enumerate(terms.problems)
    ]


def _changes(course: Course, before: Assignment, after: Assignment) -> list[str]:
    """What differs, in words for the audit log."""
    pairs = zip(_in_words(course, before), _in_words(course, after), strict=True)
    changes = [f"{name} {old} to {new}" for (name, old), (_, new) in pairs if old != new]
    # A password itself is never told.
    return changes + (["password changed"] if before.password_hash != after.password_hash else [])


def _in_words(course: Course, each: Assignment) -> list[tuple[str, str]]:
    opens, due = (written_local(moment, course.time_zone) for moment in (each.opens_at, each.due_at))
    return [
        ("name", each.name),
        ("opens", opens),
        ("due", due),
        ("late_percent", str(each.late_percent or "none")),
        ("attempt_limit", str(each.attempt_limit or "none")),
        ("cool_down_minutes", str(each.cool_down_minutes or "none")),
        ("exam", "yes" if each.is_exam else "no"),
        ("closes", " ".join(part for part in PARTS if part in each.closes) or "nothing"),
        ("closed_for", each.closed_for),
        ("duration_minutes", str(each.duration_minutes or "none")),
        ("addresses", " ".join(each.addresses) or "none"),
        ("counted", each.counted),
        ("grace_minutes", str(each.grace_minutes)),
        ("weight", "none" if each.weight is None else str(each.weight)),
        ("category", each.category or "none"),
        ("problems", ", ".join(line_of_place(place) for place in each.places)),
    ]


async def _find(session: AsyncSession, course: Course, assignment_id: str) -> AssignmentRow:
    row = await session.get(AssignmentRow, assignment_id, with_for_update=True) if is_id(assignment_id) else None
    if row is None or row.course_id != course.id:
        raise no_assignment(assignment_id)
    return row
