"""Attempts whose verdict their author may not see yet, because they were sent in an exam.

app/teaching/courses writes these rows. Whatever shows an attempt to a student asks here, and what instructors read does
not. Almost always, nothing is withheld, so a query that an index alone can answer is filtered only if something is.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, ForeignKey, String, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import now
from app.core.database import Base, UTCDateTime
from app.grading.queue.models import AttemptRow


class WithheldRow(Base):
    """The verdict of an attempt is hidden `until` the exam `assignment_id` has closed for everyone."""

    __tablename__ = "withheld_attempts"

    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"), primary_key=True)
    assignment_id: Mapped[str] = mapped_column(String(32), primary_key=True, index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    problem: Mapped[str] = mapped_column(String(64), index=True)
    until: Mapped[datetime] = mapped_column(UTCDateTime(), index=True)


async def withheld_until(session: AsyncSession, attempt_ids: Sequence[str]) -> dict[str, datetime]:
    """When the verdict of each of these attempts can be seen, for those whose verdict is hidden now."""
    row = WithheldRow
    query = (
        select(row.attempt_id, func.max(row.until))
        .where(row.attempt_id.in_(attempt_ids), row.until > now())
        .group_by(row.attempt_id)
    )
    return {attempt_id: until for attempt_id, until in await session.execute(query)}


async def withheld_from(session: AsyncSession, user_id: str) -> datetime | None:
    """When the user can see the verdicts of all their attempts; None if they can now."""
    row = WithheldRow
    return await session.scalar(select(func.max(row.until)).where(row.user_id == user_id, row.until > now()))


async def shown_only(
    session: AsyncSession, *, user_id: str | None = None, problem: str | None = None
) -> list[ColumnElement[bool]]:
    """Conditions for a query of attempts of a user, or at a problem, that leave out those that are withheld now."""
    row, moment = WithheldRow, now()
    found = select(row.attempt_id).where(row.until > moment)
    if user_id is not None:
        found = found.where(row.user_id == user_id)
    if problem is not None:
        found = found.where(row.problem == problem)
    if await session.scalar(found.limit(1)) is None:
        return []
    return [AttemptRow.id.not_in(found)]
