"""Which attempts a rejudge grades again: those of some versions, of some people, and of some time."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import UserRow
from app.core.clock import end_of_minute
from app.core.errors import AssignmentNotFound, PersonNotFound, VersionNotFound
from app.core.ids import is_id
from app.core.view import View
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.problems.models import PackageRow
from app.teaching.courses.due_dates import closes_at
from app.teaching.courses.errors import CourseNotFound
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, CourseRow, MemberRow
from app.teaching.courses.student_dates import first_opening, last_deadline
from app.teaching.rejudging.errors import SelectionInvalid


class Selection(View):
    """Which attempts it grades. A field that is null or empty leaves that open."""

    versions: tuple[str, ...]
    course: str | None
    assignment: str | None
    people: tuple[str, ...]
    since: datetime | None
    until: datetime | None

    def to_json(self) -> dict[str, Any]:
        """As it is stored. Equal selections have equal values."""
        return {
            "versions": sorted(set(self.versions)),
            "course": self.course,
            "assignment": self.assignment,
            "people": sorted(set(self.people)),
            "since": self.since.astimezone(UTC).isoformat() if self.since else None,
            "until": self.until.astimezone(UTC).isoformat() if self.until else None,
        }

    @classmethod
    def of_json(cls, stored: dict[str, Any] | None) -> "Selection":
        """None is `EVERYTHING`: every attempt of other versions."""
        return EVERYTHING if stored is None else cls.model_validate(stored)


EVERYTHING = Selection(versions=(), course=None, assignment=None, people=(), since=None, until=None)


async def selected(session: AsyncSession, slug: str, version: str, chosen: Selection) -> list[ColumnElement[bool]]:
    """The conditions for the attempts of a problem that `version` grades again.

    Raises:
      VersionNotFound, CourseNotFound, AssignmentNotFound, PersonNotFound.
      SelectionInvalid: no attempt could match.
    """
    row = AttemptRow
    found: list[Any] = [row.problem == slug, row.version != version, IS_SCORED]
    if chosen.versions:
        known = select(PackageRow.version).where(PackageRow.slug == slug, PackageRow.version.in_(chosen.versions))
        if missing := _first_missing(chosen.versions, await session.scalars(known)):
            raise VersionNotFound(f"The problem {slug[:64]!r} has no version {missing[:64]!r}.")
        found.append(row.version.in_(chosen.versions))
    if chosen.people:
        known = select(UserRow.id).where(UserRow.id.in_(chosen.people))
        if missing := _first_missing(chosen.people, await session.scalars(known)):
            raise PersonNotFound(f"No account has the id {missing[:64]!r}.")
        found.append(row.user_id.in_(chosen.people))
    if chosen.since and chosen.until and chosen.since >= chosen.until:
        raise SelectionInvalid("since: must be before until.")
    if chosen.since:
        found.append(row.created_at >= chosen.since)
    if chosen.until:
        found.append(row.created_at < chosen.until)
    course_id = chosen.course
    if chosen.assignment is not None:
        assignment = await _assignment(session, slug, chosen.assignment, course_id)
        course_id = assignment.course_id
        due_at = await last_deadline(session, assignment.id, assignment.due_at)
        course = await session.get_one(CourseRow, assignment.course_id)
        last = closes_at(due_at, assignment.late_percent, course.time_zone, assignment.grace_minutes)
        opens_at = await first_opening(session, assignment.id, assignment.opens_at)
        found += [row.created_at >= opens_at, row.created_at < end_of_minute(last)]
    if course_id is not None:
        if await session.get(CourseRow, course_id) is None:
            raise CourseNotFound(f"There is no course with the id {course_id[:64]!r}.")
        students = select(MemberRow.user_id).where(MemberRow.course_id == course_id, MemberRow.role == "student")
        found.append(row.user_id.in_(students))
    return found


async def _assignment(session: AsyncSession, slug: str, assignment_id: str, course_id: str | None) -> AssignmentRow:
    row = await session.get(AssignmentRow, assignment_id) if is_id(assignment_id) else None
    if row is None or course_id not in (None, row.course_id):
        where = "No course" if course_id is None else "This course"
        verb = "has an" if course_id is None else "has no"
        raise AssignmentNotFound(f"{where} {verb} assignment with the id {assignment_id[:64]!r}.")
    of_it = select(AssignmentProblemRow.problem).where(AssignmentProblemRow.assignment_id == row.id)
    if slug not in (await session.scalars(of_it)).all():
        raise SelectionInvalid(f"assignment: {row.name} does not contain the problem {slug}.")
    return row


def _first_missing(names: Iterable[str], known: Iterable[str]) -> str | None:
    there = set(known)
    return next((each for each in names if each not in there), None)
