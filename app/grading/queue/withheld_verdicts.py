"""Attempts whose verdict their author may not see yet, because they were sent in an exam, and what is shown of them.

app/teaching/courses writes these rows. Everything that shows an attempt to a student asks here: pages, REST, events,
webhooks and exports. So does what assistants read, except for exams of the courses that they assist; what instructors
read does not. Almost always, nothing is withheld, so a query that an index alone can answer is filtered only if
something is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self, TypeVar

from sqlalchemy import ColumnElement, ForeignKey, Select, String, and_, bindparam, false, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import MINUTE, end_of_minute, now
from app.core.database import Base, UTCDateTime, once, select_rows
from app.core.prepared_select import PreparedSelect
from app.core.view import View
from app.grading.queue.models import AttemptRow


class WithheldRow(Base):
    """The verdict of an attempt is hidden until the exam `assignment_id` has closed for everyone: `until` is the last
    minute in which it is open.
    """

    __tablename__ = "withheld_attempts"

    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"), primary_key=True)
    assignment_id: Mapped[str] = mapped_column(String(32), primary_key=True, index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    problem: Mapped[str] = mapped_column(String(64), index=True)
    until: Mapped[datetime] = mapped_column(UTCDateTime(), index=True)


T = TypeVar("T")
_SHOWN = object()
# Marks a field that is shown while the verdict is withheld: something that its author sent, or how far grading got.
Shown = Annotated[T, _SHOWN]


class Withholdable(View):
    """A view of an attempt. While its verdict is withheld, it has only the fields that are marked `Shown`.

    All others are null, or false, so a new field is withheld until somebody marks it. A subclass has the field
    `withheld_until`.
    """

    @classmethod
    def shown_fields(cls) -> frozenset[str]:
        return frozenset(name for name, field in cls.model_fields.items() if _SHOWN in field.metadata)

    def withheld(self, until: datetime) -> Self:
        """The attempt as its author sees it before `until`, when its exam closes."""
        shown = {name: getattr(self, name) for name in self.shown_fields()}
        hidden = {name: False if field.annotation is bool else None for name, field in type(self).model_fields.items()}
        return type(self)(**hidden | shown | {"withheld_until": until})


@dataclass(frozen=True, slots=True)
class SeenExams:
    """The exams whose verdicts a reader sees before they close: those with these ids, or all."""

    ids: frozenset[str] = frozenset()
    are_all: bool = False


NO_EXAM = SeenExams()
ALL_EXAMS = SeenExams(are_all=True)


@dataclass(frozen=True, slots=True)
class Withheld:
    """The attempts of one user whose verdicts are withheld now, and their problems."""

    attempts: frozenset[str]
    problems: frozenset[str]

    def names_one(self, texts: Iterable[str]) -> bool:
        """Whether the id of such an attempt is in one of these texts."""
        return any(attempt_id in text for text in texts for attempt_id in self.attempts)


async def withheld_of(session: AsyncSession, user_id: str, *, seen: SeenExams = NO_EXAM) -> Withheld:
    """`seen` says which exams hide nothing from the reader."""
    row = WithheldRow
    query = select(row.attempt_id, row.problem).where(row.user_id == user_id, _is_hidden(seen))
    found = (await session.execute(query)).all()
    return Withheld(frozenset(each.attempt_id for each in found), frozenset(each.problem for each in found))


async def withheld_until(
    session: AsyncSession, attempt_ids: Sequence[str], *, user_id: str | None = None, seen: SeenExams = NO_EXAM
) -> dict[str, datetime]:
    """When the verdict of each of these attempts can be seen, for those whose verdict is hidden now.

    `user_id` says that all are of one user, and `seen` which exams hide nothing from the reader.
    """
    if seen.are_all or (user_id is not None and not await _has_hidden(session, user_id)):
        return {}
    row = WithheldRow
    query = (
        select(row.attempt_id, func.max(row.until))
        .where(row.attempt_id.in_(attempt_ids), _is_hidden(seen))
        .group_by(row.attempt_id)
    )
    return {attempt_id: end_of_minute(until) for attempt_id, until in await session.execute(query)}


async def withheld_from(session: AsyncSession, user_id: str) -> datetime | None:
    """When the user can see the verdicts of all their attempts; None if they can now."""
    row = WithheldRow
    until = await session.scalar(select(func.max(row.until)).where(row.user_id == user_id, _is_hidden()))
    return None if until is None else end_of_minute(until)


# Built once: building a statement takes as long as executing it, and every page of a user needs it.
_HIDDEN = PreparedSelect(
    select(WithheldRow.attempt_id)
    .where(WithheldRow.user_id == bindparam("user_id"), WithheldRow.until > bindparam("since", type_=UTCDateTime()))
    .limit(1)
)


async def _has_hidden(session: AsyncSession, user_id: str) -> bool:
    """Whether a verdict of this user is hidden, which several parts of a page ask."""

    async def read() -> bool:
        return (await select_rows(session, _HIDDEN, {"user_id": user_id, "since": now() - MINUTE})).first() is not None

    return await once(session, ("withheld", user_id), read)


async def _is_any(session: AsyncSession, query: Select[str]) -> bool:
    return await session.scalar(query.limit(1)) is not None


def _is_hidden(seen: SeenExams = NO_EXAM) -> ColumnElement[bool]:
    if seen.are_all:
        return false()
    is_open = WithheldRow.until > now() - MINUTE
    return and_(is_open, WithheldRow.assignment_id.not_in(seen.ids)) if seen.ids else is_open


async def shown_only(
    session: AsyncSession, *, user_id: str | None = None, problem: str | None = None, seen: SeenExams = NO_EXAM
) -> list[ColumnElement[bool]]:
    """Conditions for a query of attempts of a user, or at a problem, that leave out those that are withheld now.

    `seen` says which exams hide nothing from the reader.
    """
    if seen.are_all or (user_id is not None and not await _has_hidden(session, user_id)):
        return []
    row = WithheldRow
    found = select(row.attempt_id).where(_is_hidden(seen))
    if user_id is not None:
        found = found.where(row.user_id == user_id)
    if problem is not None:
        found = found.where(row.problem == problem)
    if user_id is None and not await _is_any(session, found):
        return []
    return [AttemptRow.id.not_in(found)]
