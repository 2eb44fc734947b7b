"""Attempts whose verdict their author may not see yet, because they were sent in an exam.

app/teaching/courses writes these rows. Whatever shows an attempt to a student asks here, and what instructors read does
not. Almost always, nothing is withheld, so a query that an index alone can answer is filtered only if something is.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, ForeignKey, Select, String, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import MINUTE, end_of_minute, now
from app.core.database import Base, UTCDateTime, once
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


async def withheld_until(
    session: AsyncSession, attempt_ids: Sequence[str], *, user_id: str | None = None
) -> dict[str, datetime]:
    """When the verdict of each of these attempts can be seen, for those whose verdict is hidden now.

    `user_id` says that all are of one user.
    """
    if user_id is not None and not await _has_hidden(session, user_id):
        return {}
    row = WithheldRow
    query = (
        select(row.attempt_id, func.max(row.until))
        .where(row.attempt_id.in_(attempt_ids), _is_hidden())
        .group_by(row.attempt_id)
    )
    return {attempt_id: end_of_minute(until) for attempt_id, until in await session.execute(query)}


async def withheld_from(session: AsyncSession, user_id: str) -> datetime | None:
    """When the user can see the verdicts of all their attempts; None if they can now."""
    row = WithheldRow
    until = await session.scalar(select(func.max(row.until)).where(row.user_id == user_id, _is_hidden()))
    return None if until is None else end_of_minute(until)


async def _has_hidden(session: AsyncSession, user_id: str) -> bool:
    """Whether a verdict of this user is hidden, which several parts of a page ask."""
    of_user = select(WithheldRow.attempt_id).where(WithheldRow.user_id == user_id, _is_hidden())
    return await once(session, ("withheld", user_id), lambda: _is_any(session, of_user))


async def _is_any(session: AsyncSession, query: Select[str]) -> bool:
    return await session.scalar(query.limit(1)) is not None


def _is_hidden() -> ColumnElement[bool]:
    return WithheldRow.until > now() - MINUTE


async def shown_only(
    session: AsyncSession, *, user_id: str | None = None, problem: str | None = None
) -> list[ColumnElement[bool]]:
    """Conditions for a query of attempts of a user, or at a problem, that leave out those that are withheld now."""
    row = WithheldRow
    found = select(row.attempt_id).where(_is_hidden())
    if user_id is not None:
        found = found.where(row.user_id == user_id)
    if problem is not None:
        found = found.where(row.problem == problem)
    is_any = await (_has_hidden(session, user_id) if user_id is not None else _is_any(session, found))
    if not is_any:
        return []
    return [AttemptRow.id.not_in(found)]
