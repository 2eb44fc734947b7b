"""REST bodies and responses for courses."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import AliasPath, BeforeValidator, Field

from app.accounts.audit.log import LONGEST_REASON
from app.accounts.text_rules import EMPTY_LINE_PATTERN, LINE_PATTERN
from app.core.rest.body import RequestBody
from app.core.rest.paging import Page
from app.core.view import View
from app.teaching.courses.announcements import ANNOUNCEMENT_PATTERN, LONGEST_ANNOUNCEMENT, Announcement
from app.teaching.courses.assignments import LONGEST_COOL_DOWN, MOST_ATTEMPTS, Terms
from app.teaching.courses.due_dates import LOCAL_PATTERN, from_local
from app.teaching.courses.extensions import MOST_EXTRA_ATTEMPTS, MOST_EXTRA_MINUTES, Extension
from app.teaching.courses.gradebook import Column, Line
from app.teaching.courses.service import (
    LONGEST_NAME,
    MOST_POINTS,
    MOST_PROBLEMS,
    AssignedProblem,
    Assignment,
    Course,
    MemberRole,
)


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 7.0 is 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class NewCourseJSON(RequestBody):
    # Only described here. app/accounts/text_rules.py and app/teaching/courses/due_dates.py enforce it.
    name: str = Field(min_length=1, max_length=LONGEST_NAME, json_schema_extra={"pattern": LINE_PATTERN})
    time_zone: str = Field(max_length=64, description="A name such as `Europe/Berlin`, or `UTC`")


class CourseJSON(View):
    """`join_code` is null for its students. All local times of the course are in `time_zone`."""

    id: str
    name: str
    time_zone: str
    join_code: str | None
    created_at: datetime

    @classmethod
    def for_member(cls, course: Course, *, is_manager: bool) -> "CourseJSON":
        return cls(
            id=course.id,
            name=course.name,
            time_zone=course.time_zone,
            join_code=course.join_code if is_manager else None,
            created_at=course.created_at,
        )


class CourseList(View):
    courses: list[CourseJSON]


class JoinCodeJSON(RequestBody):
    code: str = Field(max_length=100)


class NewAnnouncementJSON(RequestBody):
    # Only described here. app/teaching/courses/announcements.py enforces it.
    text: str = Field(
        json_schema_extra={"minLength": 1, "maxLength": LONGEST_ANNOUNCEMENT, "pattern": ANNOUNCEMENT_PATTERN}
    )


class AnnouncementList(View):
    """The latest, newest first."""

    announcements: list[Announcement]


class MemberRoleJSON(RequestBody):
    """An assistant reads the gradebook of the course; a student appears in it."""

    role: MemberRole


class AssignedProblemJSON(RequestBody):
    """A problem by its slug, and what a score of 100 at it is worth."""

    problem: str
    points: Annotated[int, Field(ge=0, le=MOST_POINTS), BeforeValidator(_whole)] = 100


class NewAssignmentJSON(RequestBody):
    """`opens` and `due` are in the time zone of the course. `late_percent` null: nothing counts after `due`.

    `attempt_limit` and `cool_down_minutes` are for each problem. `exam`: students see no verdict until it has
    closed; it has no `late_percent`.
    """

    name: str = Field(min_length=1, max_length=LONGEST_NAME, json_schema_extra={"pattern": LINE_PATTERN})
    opens: str = Field(json_schema_extra={"pattern": LOCAL_PATTERN})
    due: str = Field(json_schema_extra={"pattern": LOCAL_PATTERN})
    late_percent: Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole)] | None = None
    problems: list[AssignedProblemJSON] = Field(min_length=1, max_length=MOST_PROBLEMS)
    attempt_limit: Annotated[int, Field(ge=1, le=MOST_ATTEMPTS), BeforeValidator(_whole)] | None = None
    cool_down_minutes: Annotated[int, Field(ge=1, le=LONGEST_COOL_DOWN), BeforeValidator(_whole)] | None = None
    exam: bool = False

    def terms(self, course: Course) -> Terms:
        """Raises `FieldInvalid` and `AssignmentInvalid`."""
        return Terms(
            name=self.name,
            opens_at=from_local("opens", self.opens, course.time_zone, is_due=False),
            due_at=from_local("due", self.due, course.time_zone, is_due=True),
            late_percent=self.late_percent,
            problems=[AssignedProblem(each.problem, each.points) for each in self.problems],
            attempt_limit=self.attempt_limit,
            cool_down_minutes=self.cool_down_minutes,
            is_exam=self.exam,
        )


class ChangedAssignmentJSON(NewAssignmentJSON):
    """The whole assignment as it is from now on. The audit log contains what changed, and `reason`."""

    reason: str = Field("", max_length=LONGEST_REASON, json_schema_extra={"pattern": EMPTY_LINE_PATTERN})


class AssignmentJSON(View):
    id: str
    name: str
    opens_at: datetime
    due_at: datetime
    late_percent: int | None
    problems: list[AssignedProblemJSON]
    attempt_limit: int | None
    cool_down_minutes: int | None
    exam: bool

    @classmethod
    def of(cls, assignment: Assignment) -> "AssignmentJSON":
        problems = [AssignedProblemJSON(problem=each.problem, points=each.points) for each in assignment.problems]
        return cls(
            id=assignment.id,
            name=assignment.name,
            opens_at=assignment.opens_at,
            due_at=assignment.due_at,
            late_percent=assignment.late_percent,
            problems=problems,
            attempt_limit=assignment.attempt_limit,
            cool_down_minutes=assignment.cool_down_minutes,
            exam=assignment.is_exam,
        )


class NewExtensionJSON(RequestBody):
    """More time, more attempts at each problem, or both. Zero of each takes the extension back."""

    extra_minutes: Annotated[int, Field(ge=0, le=MOST_EXTRA_MINUTES), BeforeValidator(_whole)] = 0
    extra_attempts: Annotated[int, Field(ge=0, le=MOST_EXTRA_ATTEMPTS), BeforeValidator(_whole)] = 0
    reason: str = Field(min_length=1, max_length=LONGEST_REASON, json_schema_extra={"pattern": LINE_PATTERN})


class ExtensionList(View):
    """By name."""

    extensions: list[Extension]


class AssignmentList(View):
    """By deadline. Students see those that have opened."""

    assignments: list[AssignmentJSON]


class ColumnJSON(View):
    assignment: Annotated[str, Field(validation_alias=AliasPath("assignment", "id"))]
    problem: str
    points: int


class CellJSON(View):
    """`points` is null if nothing that counts was submitted. `late`: a late attempt gave the most.

    `changed_by_hand`: an instructor changed the points of that attempt.
    """

    points: float | None
    late: bool
    changed_by_hand: bool


class LineJSON(View):
    """A student, with a cell for each column."""

    id: str
    name: str
    cells: list[CellJSON]
    total: float


class GradebookPage(View):
    """Students by name. For the next page, send `next` as `after`. It is null on the last page."""

    columns: list[ColumnJSON]
    students: list[LineJSON]
    next: str | None


def gradebook_json(columns: Sequence[Column], lines: Page[Line]) -> dict[str, Any]:
    """The content of a `GradebookPage`."""
    return {
        "columns": [ColumnJSON.of(each).model_dump() for each in columns],
        "students": [
            {
                "id": line.id,
                "name": line.name,
                "cells": [
                    {"points": each.points, "late": each.late, "changed_by_hand": each.changed_by_hand}
                    for each in line.cells
                ],
                "total": line.total,
            }
            for line in lines
        ],
        "next": lines.next,
    }
