"""REST bodies and responses for courses."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.accounts.text import EMPTY_LINE_PATTERN, LINE_PATTERN
from app.audit.log import LONGEST_REASON
from app.courses.assignments import LONGEST_COOL_DOWN, MOST_ATTEMPTS, Terms
from app.courses.due import LOCAL_PATTERN, from_local
from app.courses.extensions import MOST_EXTRA_ATTEMPTS, MOST_EXTRA_MINUTES, Extension
from app.courses.gradebook import Column, Line
from app.courses.service import (
    LONGEST_NAME,
    MOST_POINTS,
    MOST_PROBLEMS,
    AssignedProblem,
    Assignment,
    Course,
    MemberRole,
)
from app.rest.paging import Page

_COURSE: dict[str, Any] = {
    "id": "2c4e6a8b0d1f3e5c7a9b9e7c5a3b1d0f",
    "name": "Distributed JAX, autumn",
    "time_zone": "Europe/Berlin",
    "join_code": "k4mtw7xq2p",
    "created_at": "2026-01-05T09:30:00.000000Z",
}
_NEW_ASSIGNMENT: dict[str, Any] = {
    "name": "Week 1",
    "opens": "2026-01-12T09:00",
    "due": "2026-01-19T23:59",
    "late_percent": 10,
    "problems": [{"problem": "fsdp_step", "points": 100}],
    "attempt_limit": 5,
    "cool_down_minutes": 10,
    "exam": False,
}
_ASSIGNMENT: dict[str, Any] = {
    "id": "6f8a0c2e4d6b8a0c1e3d5f7b9a1c3e5d",
    "name": "Week 1",
    "opens_at": "2026-01-12T08:00:00.000000Z",
    "due_at": "2026-01-19T22:59:00.000000Z",
    "late_percent": 10,
    "problems": [{"problem": "fsdp_step", "points": 100}],
    "attempt_limit": 5,
    "cool_down_minutes": 10,
    "exam": False,
}


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 7.0 is 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _body(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [example]})


def _answer(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class NewCourseJSON(BaseModel):
    model_config = _body({"name": "Distributed JAX, autumn", "time_zone": "Europe/Berlin"})

    # Only described here. app/accounts/text.py and app/courses/due.py enforce it.
    name: str = Field(min_length=1, max_length=LONGEST_NAME, json_schema_extra={"pattern": LINE_PATTERN})
    time_zone: str = Field(max_length=64, description="A name such as `Europe/Berlin`, or `UTC`")


class CourseJSON(BaseModel):
    """`join_code` is null for its students. All local times of the course are in `time_zone`."""

    model_config = _answer(_COURSE)

    id: str
    name: str
    time_zone: str
    join_code: str | None
    created_at: datetime

    @classmethod
    def of(cls, course: Course, *, is_manager: bool) -> "CourseJSON":
        return cls(
            id=course.id,
            name=course.name,
            time_zone=course.time_zone,
            join_code=course.join_code if is_manager else None,
            created_at=course.created_at,
        )


class CourseList(BaseModel):
    model_config = _answer({"courses": [_COURSE]})

    courses: list[CourseJSON]


class JoinCodeJSON(BaseModel):
    model_config = _body({"code": "k4mtw7xq2p"})

    code: str = Field(max_length=100)


class MemberRoleJSON(BaseModel):
    """An assistant reads the gradebook of the course; a student appears in it."""

    model_config = _body({"role": "assistant"})

    role: MemberRole


class AssignedProblemJSON(BaseModel):
    """A problem by its slug, and what a score of 100 at it is worth."""

    model_config = ConfigDict(extra="forbid", strict=True)

    problem: str
    points: Annotated[int, Field(ge=0, le=MOST_POINTS), BeforeValidator(_whole)] = 100


class NewAssignmentJSON(BaseModel):
    """`opens` and `due` are in the time zone of the course. `late_percent` null: nothing counts after `due`.

    `attempt_limit` and `cool_down_minutes` are for each problem. `exam`: students see no verdict until it has
    closed; it has no `late_percent`.
    """

    model_config = _body(_NEW_ASSIGNMENT)

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

    model_config = _body(_NEW_ASSIGNMENT | {"reason": "postponed by a week"})

    reason: str = Field("", max_length=LONGEST_REASON, json_schema_extra={"pattern": EMPTY_LINE_PATTERN})


class AssignmentJSON(BaseModel):
    model_config = _answer(_ASSIGNMENT)

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


class NewExtensionJSON(BaseModel):
    """More time, more attempts at each problem, or both. Zero of each takes the extension back."""

    model_config = _body({"extra_minutes": 30, "extra_attempts": 1, "reason": "ill on Monday"})

    extra_minutes: Annotated[int, Field(ge=0, le=MOST_EXTRA_MINUTES), BeforeValidator(_whole)] = 0
    extra_attempts: Annotated[int, Field(ge=0, le=MOST_EXTRA_ATTEMPTS), BeforeValidator(_whole)] = 0
    reason: str = Field(min_length=1, max_length=LONGEST_REASON, json_schema_extra={"pattern": LINE_PATTERN})


_EXTENSION: dict[str, Any] = {
    "person": "9e7c5a3b1d0f2e4c6a8b0d1f3e5c7a9b",
    "name": "ada",
    "extra_minutes": 30,
    "extra_attempts": 1,
    "reason": "ill on Monday",
}


class ExtensionJSON(BaseModel):
    model_config = _answer(_EXTENSION)

    person: str
    name: str
    extra_minutes: int
    extra_attempts: int
    reason: str

    @classmethod
    def of(cls, extension: Extension) -> "ExtensionJSON":
        return cls(
            person=extension.user_id,
            name=extension.name,
            extra_minutes=extension.extra_minutes,
            extra_attempts=extension.extra_attempts,
            reason=extension.reason,
        )


class ExtensionList(BaseModel):
    """By name."""

    model_config = _answer({"extensions": [_EXTENSION]})

    extensions: list[ExtensionJSON]


class AssignmentList(BaseModel):
    """By deadline. Students see those that have opened."""

    model_config = _answer({"assignments": [_ASSIGNMENT]})

    assignments: list[AssignmentJSON]


_COLUMN: dict[str, Any] = {"assignment": _ASSIGNMENT["id"], "problem": "fsdp_step", "points": 100}
_LINE: dict[str, Any] = {
    "id": "9e7c5a3b1d0f2e4c6a8b0d1f3e5c7a9b",
    "name": "ada",
    "cells": [{"points": 72.5, "late": True, "changed_by_hand": False}],
    "total": 72.5,
}


class ColumnJSON(BaseModel):
    model_config = _answer(_COLUMN)

    assignment: str
    problem: str
    points: int

    @classmethod
    def of(cls, column: Column) -> "ColumnJSON":
        return cls(assignment=column.assignment.id, problem=column.problem, points=column.points)


class CellJSON(BaseModel):
    """`points` is null if nothing that counts was sent. `late`: a late attempt gave the most.

    `changed_by_hand`: an instructor changed the points of that attempt.
    """

    model_config = ConfigDict(extra="forbid")

    points: float | None
    late: bool
    changed_by_hand: bool


class LineJSON(BaseModel):
    """A student, with a cell for each column."""

    model_config = _answer(_LINE)

    id: str
    name: str
    cells: list[CellJSON]
    total: float


class GradebookPage(BaseModel):
    """Students by name. For the next page, send `next` as `after`. It is null on the last page."""

    model_config = _answer({"columns": [_COLUMN], "students": [_LINE], "next": None})

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
