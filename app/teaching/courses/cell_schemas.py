"""REST bodies and responses for a cell of the gradebook."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from app.accounts.audit.log import LONGEST_REASON, AuditEntry
from app.accounts.text_rules import EMPTY_LINE_PATTERN, LINE_PATTERN
from app.core.errors import FieldInvalid
from app.core.rest.actions import FromForm
from app.core.rest.body import RequestBody
from app.core.view import View
from app.teaching.courses.cells import CellView, NewMark
from app.teaching.courses.grade_arithmetic import Role, Rule, Weighed, shown_points
from app.teaching.courses.marks import Kind, Mark
from app.teaching.courses.service import MOST_POINTS

# With at most two decimals, which no pattern of JSON Schema says well of a number. app/teaching/courses/cells.py does.
_Points = Annotated[float, Field(ge=0, le=MOST_POINTS, description="At most two decimals")]
_Shown = Annotated[bool, Field(description="Whether the student reads the reason")]


class NewExcuseJSON(RequestBody):
    reason: str = Field(min_length=1, max_length=LONGEST_REASON, json_schema_extra={"pattern": LINE_PATTERN})
    reason_shown: _Shown = False

    def mark(self) -> NewMark:
        return NewMark(self.reason, self.reason_shown)


class NewPointsJSON(NewExcuseJSON):
    points: _Points

    def mark(self) -> NewMark:
        return NewMark(self.reason, self.reason_shown, self.points)


class NewRubricJSON(RequestBody):
    """`reason` is the comment."""

    points: _Points
    maximum: _Points
    reason: str = Field("", max_length=LONGEST_REASON, json_schema_extra={"pattern": EMPTY_LINE_PATTERN})
    reason_shown: _Shown = True

    def mark(self) -> NewMark:
        return NewMark(self.reason, self.reason_shown, self.points, self.maximum)


class NewCellJSON(RequestBody):
    """All that is given by hand to the cell. What is null or left out is taken back.

    The `override` replaces what the attempts earn. The `rubric` is added, and its maximum to what is possible. The
    `bonus` is added without being possible. An excused cell does not count.
    """

    override: NewPointsJSON | None = None
    excused: NewExcuseJSON | None = None
    rubric: NewRubricJSON | None = None
    bonus: NewPointsJSON | None = None

    def marks(self) -> dict[Kind, NewMark | None]:
        return {
            "override": self.override.mark() if self.override else None,
            "excused": self.excused.mark() if self.excused else None,
            "rubric": self.rubric.mark() if self.rubric else None,
            "bonus": self.bonus.mark() if self.bonus else None,
        }


def _typed_points(text: str) -> float:
    """Digits, and at most two after a point or a comma."""
    whole, _, decimals = text.strip().replace(",", ".").partition(".")
    digits = whole + decimals
    if not (whole and digits.isascii() and digits.isdecimal() and len(whole) <= 4 and len(decimals) <= 2):
        raise FieldInvalid("points: give a number of points with at most two decimals, such as 7.5.")
    return float(f"{whole}.{decimals or 0}")


class MarkForm(RequestBody):
    """One mark of a cell, as a form sends it. `step` is `take` if it is taken back."""

    kind: Kind
    step: Literal["give", "take"] = "give"
    points: Annotated[float | None, FromForm(_typed_points)] = None
    maximum: Annotated[float | None, FromForm(_typed_points)] = None
    reason: str = ""
    reason_shown: bool = False

    def mark(self) -> NewMark | None:
        """None if it is taken back. Raises `FieldInvalid`."""
        if self.step == "take":
            return None
        numbers = {"excused": (), "rubric": ("points", "maximum")}.get(self.kind, ("points",))
        for field in numbers:
            if getattr(self, field) is None:
                raise FieldInvalid(f"{self.kind}.{field}: is required.")
        return NewMark(
            self.reason,
            self.reason_shown,
            points=self.points or 0 if "points" in numbers else 0,
            maximum=self.maximum if "maximum" in numbers else None,
        )


class CellAttemptJSON(View):
    """`credit` is the percentage of `score` that lateness leaves, and `points` what the attempt is worth alone.

    `role` is `counts`, or why it does not: it was sent `before-opening`, it was `closed`, lateness makes it
    `worth-nothing`, another attempt gives no `less`, or it is `earlier` than the last.
    """

    id: str
    sent_at: datetime
    score: int
    changed_by_hand: bool
    late: bool
    days_late: int
    credit: int
    points: float
    role: Role

    @classmethod
    def weighed(cls, each: Weighed, worth: int) -> "CellAttemptJSON":
        return cls.read_from(
            each,
            id=each.sent.id,
            sent_at=each.sent.at,
            score=each.sent.score,
            changed_by_hand=each.sent.by_hand,
            late=each.is_late,
            points=shown_points(worth * each.share),
        )


class CellPersonJSON(View):
    id: str
    name: str


class FullCellJSON(View):
    """`worth` is what the problem is worth, and `opens_at` and `due_at` are the student's. `points` is null if nothing
    that counts was submitted or given. `history` are the entries of the audit log, newest first.
    """

    assignment: str
    problem: str
    person: CellPersonJSON
    worth: int
    counted: Rule
    opens_at: datetime
    due_at: datetime
    points: float | None
    possible: float
    late: bool
    changed_by_hand: bool
    excused: bool
    marks: list[Mark]
    attempts: list[CellAttemptJSON]
    history: list[AuditEntry]

    @classmethod
    def full(cls, view: CellView, history: list[AuditEntry]) -> "FullCellJSON":
        cell, column = view.cell, view.column
        return cls.read_from(
            cell,
            assignment=column.assignment.id,
            problem=column.problem,
            person=CellPersonJSON.of(view.person),
            worth=column.points,
            counted=view.rules.counted,
            opens_at=view.rules.opens_at,
            due_at=view.rules.due_at,
            excused=cell.is_excused,
            attempts=[CellAttemptJSON.weighed(each, column.points) for each in view.attempts],
            history=history,
        )
