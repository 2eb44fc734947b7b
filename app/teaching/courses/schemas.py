"""REST bodies and responses for courses."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from pydantic import AliasPath, BeforeValidator, Field, WithJsonSchema

from app.accounts.audit.log import LONGEST_REASON
from app.accounts.text_rules import EMPTY_LINE_PATTERN, LINE_PATTERN
from app.core.rest.actions import AS_TYPED, FromForm
from app.core.rest.body import RequestBody
from app.core.rest.paging import Page
from app.core.view import View
from app.problems.exams import PARTS, USUAL, Part
from app.teaching.courses.announcements import ANNOUNCEMENT_PATTERN, LONGEST_ANNOUNCEMENT, Announcement
from app.teaching.courses.assignments import LONGEST_COOL_DOWN, LONGEST_GRACE, LONGEST_PASSWORD, MOST_ATTEMPTS, Terms
from app.teaching.courses.categories import LONGEST_CATEGORY, MOST_CATEGORIES, MOST_DROPPED, MOST_WEIGHT
from app.teaching.courses.due_dates import LocalTime, from_local, written_local
from app.teaching.courses.exam_access import LONGEST_DURATION, MOST_NETWORKS, read_networks, split_networks
from app.teaching.courses.extensions import MOST_EXTRA_ATTEMPTS, MOST_EXTRA_MINUTES, Extension
from app.teaching.courses.form_lines import categories_of_lines, problems_of_lines
from app.teaching.courses.grade_arithmetic import Category, Rule
from app.teaching.courses.gradebook import Column, Line
from app.teaching.courses.members import CourseAssistant
from app.teaching.courses.rights import RIGHTS, Right
from app.teaching.courses.service import (
    LONGEST_NAME,
    MOST_POINTS,
    MOST_PROBLEMS,
    AssignedProblem,
    Assignment,
    ClosedFor,
    Course,
    MemberRole,
)
from app.teaching.courses.staff import CourseInstructor
from app.teaching.identities.identity import RosterIdentity


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 7.0 is 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class NewCourseJSON(RequestBody):
    # Only described here. app/accounts/text_rules.py and app/teaching/courses/due_dates.py enforce it.
    name: str = Field(min_length=1, max_length=LONGEST_NAME, json_schema_extra={"pattern": LINE_PATTERN})
    time_zone: str = Field(max_length=64, description="A name such as `Europe/Berlin`, or `UTC`")


class ChangedCourseJSON(NewCourseJSON):
    """Another time zone leaves every deadline at its moment: what changes is the local time that pages show."""


class NewInstructorJSON(RequestBody):
    """An instructor or owner, by the name of the account."""

    person: str = Field(min_length=1, max_length=200)


class InstructorList(View):
    """By name. Without any, the course is open to all instructors."""

    instructors: list[CourseInstructor]


class AssistantList(View):
    """By name."""

    assistants: list[CourseAssistant]


class RightsJSON(RequestBody):
    """All rights that the assistant has from now on, beyond grading. An empty list leaves grading alone."""

    rights: list[Right] = Field(max_length=len(RIGHTS))


class CourseJSON(View):
    """`join_code` is null for its students. All local times of the course are in `time_zone`. Since `archived_at`,
    which is null while the course runs, nothing counts in it any more.
    """

    id: str
    name: str
    time_zone: str
    join_code: str | None
    created_at: datetime
    archived_at: datetime | None

    @classmethod
    def for_member(cls, course: Course, *, is_manager: bool) -> "CourseJSON":
        return cls.read_from(course, join_code=course.join_code if is_manager else None)


class CourseList(View):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    courses: list[CourseJSON]
    next: str | None


class JoinCodeJSON(RequestBody):
    code: str = Field(max_length=100)


class NewAnnouncementJSON(RequestBody):
    # Only described here. app/teaching/courses/announcements.py enforces it.
    text: str = Field(
        json_schema_extra={"minLength": 1, "maxLength": LONGEST_ANNOUNCEMENT, "pattern": ANNOUNCEMENT_PATTERN}
    )


class AnnouncementList(View):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    announcements: list[Announcement]
    next: str | None


class MemberRoleJSON(RequestBody):
    """An assistant reads the gradebook of the course; a student appears in it."""

    role: MemberRole


class AssignedProblemJSON(RequestBody):
    """A problem by its slug, and what a score of 100 at it is worth. In an exam, each student gets one of the problems
    with the same `pool`, which are worth the same.
    """

    problem: str
    points: Annotated[int, Field(ge=0, le=MOST_POINTS), BeforeValidator(_whole)] = 100
    pool: Annotated[int, Field(ge=0, le=MOST_PROBLEMS), BeforeValidator(_whole)] | None = None


class NewAssignmentJSON(RequestBody):
    """`opens` and `due` are in the time zone of the course. `due` includes its minute: at 23:59:30, 23:59 is not over.
    `late_percent` null: nothing counts after `due`.

    `attempt_limit` and `cool_down_minutes` are for each problem. `exam`: students see no verdict until it has
    closed; it has no `late_percent` and no `grace_minutes`, in which nothing is deducted after `due`.

    `weight` is within the `category`, which the course must have; null if the assignment weighs as much as its points.
    """

    name: str = Field(min_length=1, max_length=LONGEST_NAME, json_schema_extra={"pattern": LINE_PATTERN})
    opens: LocalTime
    due: LocalTime
    late_percent: Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole)] | None = None
    problems: Annotated[
        list[AssignedProblemJSON],
        FromForm(problems_of_lines),
        Field(min_length=1, max_length=MOST_PROBLEMS, description="In the order in which students see them"),
    ]
    attempt_limit: Annotated[int, Field(ge=1, le=MOST_ATTEMPTS), BeforeValidator(_whole)] | None = None
    cool_down_minutes: Annotated[int, Field(ge=1, le=LONGEST_COOL_DOWN), BeforeValidator(_whole)] | None = None
    exam: bool = False
    closes: list[Part] = Field(
        default=[each for each in PARTS if each in USUAL],
        description="What the exam closes until it is over for everyone",
    )
    closed_for: ClosedFor = Field(
        "students", description="`everyone`: also to other accounts and visitors, except for the staff of the course"
    )
    duration_minutes: Annotated[int, Field(ge=1, le=LONGEST_DURATION), BeforeValidator(_whole)] | None = Field(
        None, description="Each student's time from when they start the exam"
    )
    password: Annotated[str | None, AS_TYPED] = Field(
        None, max_length=LONGEST_PASSWORD, description="To start the exam. Null leaves it as it is, and `` removes it"
    )
    addresses: Annotated[
        list[Annotated[str, WithJsonSchema({"type": "string", "format": "ip-network"})]], FromForm(split_networks)
    ] = Field(
        default=[],
        max_length=MOST_NETWORKS,
        description="Networks such as `192.0.2.0/24`, from which alone students sit the exam",
    )
    counted: Rule = Field("best", description="Which attempt at each problem counts")
    grace_minutes: Annotated[int, Field(ge=0, le=LONGEST_GRACE), BeforeValidator(_whole)] = 0
    weight: Annotated[int, Field(ge=0, le=MOST_WEIGHT), BeforeValidator(_whole)] | None = None
    category: str | None = Field(None, min_length=1, max_length=LONGEST_CATEGORY)

    def terms(self, course: Course, before: Assignment | None = None) -> Terms:
        """The terms of a new assignment, or of one that was `before`. Raises `FieldInvalid` and `AssignmentInvalid`."""
        zone = course.time_zone
        opens_at, due_at = (before.opens_at, before.due_at) if before else (None, None)
        # A local time that occurs twice names two moments. One that was not changed stays the moment that it was.
        if opens_at is None or self.opens != written_local(opens_at, zone):
            opens_at = from_local("opens", self.opens, zone, is_due=False)
        if due_at is None or self.due != written_local(due_at, zone):
            due_at = from_local("due", self.due, zone, is_due=True)
        return Terms(
            name=self.name,
            opens_at=opens_at,
            due_at=due_at,
            late_percent=self.late_percent,
            problems=[AssignedProblem(**each.model_dump()) for each in self.problems],
            attempt_limit=self.attempt_limit,
            cool_down_minutes=self.cool_down_minutes,
            is_exam=self.exam,
            closes=frozenset(self.closes) if self.exam else USUAL,
            closed_for=self.closed_for if self.exam else "students",
            duration_minutes=self.duration_minutes,
            password=self.password,
            addresses=read_networks("addresses", self.addresses),
            counted=self.counted,
            grace_minutes=self.grace_minutes,
            weight=self.weight,
            category=self.category,
        )


class ChangedAssignmentJSON(NewAssignmentJSON):
    """The whole assignment as it is from now on. The audit log contains what changed, and `reason`."""

    reason: str = Field("", max_length=LONGEST_REASON, json_schema_extra={"pattern": EMPTY_LINE_PATTERN})


class AssignmentJSON(View):
    """`due_at` includes its minute: what is sent within 60 seconds after it is on time."""

    id: str
    name: str
    opens_at: datetime
    due_at: datetime
    late_percent: int | None
    problems: list[AssignedProblemJSON]
    attempt_limit: int | None
    cool_down_minutes: int | None
    exam: bool
    closes: list[Part]
    closed_for: ClosedFor
    duration_minutes: int | None
    has_password: bool
    addresses: list[str]
    counted: Rule
    grace_minutes: int
    weight: int | None
    category: str | None

    @classmethod
    def of(cls, assignment: Assignment) -> "AssignmentJSON":
        return cls.read_from(
            assignment,
            problems=[AssignedProblemJSON(**asdict(each)) for each in assignment.problems],
            exam=assignment.is_exam,
            closes=[each for each in PARTS if each in assignment.closes],
            has_password=assignment.password_hash is not None,
        )


class StaffAssignmentJSON(AssignmentJSON):
    """`warnings` say what no setting can hide about the problems of an exam, such as that they are published."""

    warnings: list[str]


class NewExtensionJSON(RequestBody):
    """More time, more attempts at each problem, or both. Zero of each takes the extension back."""

    extra_minutes: Annotated[int, Field(ge=0, le=MOST_EXTRA_MINUTES), BeforeValidator(_whole)] = 0
    extra_attempts: Annotated[int, Field(ge=0, le=MOST_EXTRA_ATTEMPTS), BeforeValidator(_whole)] = 0
    reason: str = Field(min_length=1, max_length=LONGEST_REASON, json_schema_extra={"pattern": LINE_PATTERN})


class WithdrawalForm(RequestBody):
    """For the audit log."""

    reason: str = Field("", max_length=LONGEST_REASON, json_schema_extra={"pattern": EMPTY_LINE_PATTERN})


class ExtensionList(View):
    """By name. For the next page, send `next` as `after`. It is null on the last page."""

    extensions: list[Extension]
    next: str | None


class AssignmentList(View):
    """By deadline. Students see those that have opened. For the next page, send `next` as `after`. It is null on the
    last page.
    """

    assignments: list[AssignmentJSON]
    next: str | None


class NewCategoryJSON(RequestBody):
    name: str = Field(min_length=1, max_length=LONGEST_CATEGORY, json_schema_extra={"pattern": LINE_PATTERN})
    weight: Annotated[int, Field(ge=0, le=MOST_WEIGHT), BeforeValidator(_whole)]
    drop_lowest: Annotated[int, Field(ge=0, le=MOST_DROPPED), BeforeValidator(_whole)] = 0


class NewCategoriesJSON(RequestBody):
    """All categories, in order. The weights are relative: 40 and 60 are the same as 2 and 3. The audit log contains
    what changed, and `reason`.
    """

    categories: Annotated[list[NewCategoryJSON], FromForm(categories_of_lines), Field(max_length=MOST_CATEGORIES)]
    reason: str = Field("", max_length=LONGEST_REASON, json_schema_extra={"pattern": EMPTY_LINE_PATTERN})

    def read(self) -> list[Category]:
        return [Category(each.name, each.weight, each.drop_lowest) for each in self.categories]


class CategoryJSON(View):
    name: str
    weight: int
    drop_lowest: int


class CategoryList(View):
    """In order."""

    categories: list[CategoryJSON]


class ColumnJSON(View):
    """`pool` has the other problems of which a student may have got one instead of `problem`."""

    assignment: Annotated[str, Field(validation_alias=AliasPath("assignment", "id"))]
    problem: str
    points: int
    pool: list[str]


class CellJSON(View):
    """`problem` is the one that the student got of a pool. `points` is null if nothing that counts was submitted or
    given. `late`: an attempt that counts was late.

    `changed_by_hand`: the points are not those of a verdict. `excused`: the cell does not count, and nothing is
    `possible`. `bonus` is a part of `points`, which can exceed what is possible.
    """

    problem: str
    points: float | None
    possible: float
    late: bool
    changed_by_hand: bool
    excused: bool
    bonus: float


class LineJSON(View):
    """A student, with a cell for each column. `identity` is null for someone who joined by code. `percent` is of what
    has opened, by the weights of the course; null as long as nothing counts.
    """

    id: str
    name: str
    identity: RosterIdentity | None
    cells: list[CellJSON]
    total: float
    possible: float
    percent: float | None


class GradebookPage(View):
    """Students by real name, or as `sort` says. For the next page, send `next` as `after`. It is null on the last
    page.
    """

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
                "identity": line.identity.model_dump() if line.identity else None,
                "cells": [
                    {
                        "problem": column.drawn(line.id),
                        "points": each.points,
                        "possible": each.possible,
                        "late": each.late,
                        "changed_by_hand": each.changed_by_hand,
                        "excused": each.is_excused,
                        "bonus": each.bonus,
                    }
                    for column, each in zip(columns, line.cells, strict=True)
                ],
                "total": line.total,
                "possible": line.possible,
                "percent": line.percent,
            }
            for line in lines
        ],
        "next": lines.next,
    }
