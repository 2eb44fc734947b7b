"""What is given by hand to a cell of the gradebook, a student at a problem of an assignment: read here.

app/teaching/courses/cells.py writes it.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, cast, get_args

from sqlalchemy import Select, case, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import UserRow
from app.core.view import View
from app.teaching.courses.grade_arithmetic import POINT, Amount, Marks
from app.teaching.courses.models import AssignmentRow, MarkRow

Kind = Literal["override", "excused", "rubric", "bonus"]
KINDS: tuple[Kind, ...] = get_args(Kind)
KIND_WORDS: dict[Kind, str] = {
    "override": "points by hand",
    "excused": "excused",
    "rubric": "rubric",
    "bonus": "bonus",
}
_HUNDREDTH = POINT // 100


class Mark(View):
    """`points` is null for an excuse, and `maximum` for all but a rubric. `by` is null once the account is deleted.

    The student reads `reason` only if `reason_shown`. That of a rubric is its comment.
    """

    kind: Kind
    points: float | None
    maximum: float | None
    reason: str
    reason_shown: bool
    by: str | None
    at: datetime

    @property
    def words(self) -> str:
        return KIND_WORDS[self.kind]


async def marks_of(
    session: AsyncSession, course_id: str, user_id: str | None = None
) -> dict[tuple[str, str, str], tuple[Mark, ...]]:
    """By student, assignment and problem: those of a course, or of one student in it."""
    query = _query().join(AssignmentRow, AssignmentRow.id == MarkRow.assignment_id)
    query = query.where(AssignmentRow.course_id == course_id)
    if user_id is not None:
        query = query.where(MarkRow.whom_id == user_id)
    found: dict[tuple[str, str, str], tuple[Mark, ...]] = {}
    for row, by in await session.execute(query):
        key = (row.whom_id, row.assignment_id, row.problem)
        found[key] = (*found.get(key, ()), _mark(row, by))
    return found


def amounts_of(marks: Iterable[Mark]) -> Marks:
    """What they are for the arithmetic."""
    by_kind = {each.kind: each for each in marks}
    rubric = by_kind.get("rubric")
    return Marks(
        override=_amount(by_kind.get("override")),
        is_excused="excused" in by_kind,
        rubric=None if rubric is None else (_exact(rubric.points), _exact(rubric.maximum)),
        bonus=_amount(by_kind.get("bonus")),
    )


def _query() -> Select[MarkRow, str]:
    # In the order of `KINDS`, so that a cell always lists its marks in the same one.
    order = {kind: place for place, kind in enumerate(KINDS)}
    return (
        select(MarkRow, UserRow.name)
        .outerjoin(UserRow, UserRow.id == MarkRow.user_id)
        .order_by(case(order, value=MarkRow.kind))
    )


def _mark(row: MarkRow, by: str | None) -> Mark:
    return Mark(
        kind=cast(Kind, row.kind),
        points=None if row.kind == "excused" else row.hundredths / 100,
        maximum=None if row.most_hundredths is None else row.most_hundredths / 100,
        reason=row.reason,
        reason_shown=row.is_shown,
        by=by,
        at=row.at,
    )


def _amount(mark: Mark | None) -> Amount | None:
    return None if mark is None else _exact(mark.points)


def _exact(points: float | None) -> Amount:
    """Points have at most two decimals, and so a whole number of hundredths."""
    return round((points or 0) * 100) * _HUNDREDTH
