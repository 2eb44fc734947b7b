"""Points that an instructor gave an attempt by hand, which count instead of those of its verdict.

app/grading/attempts writes these rows. The attempt's `score` has the same number, so sums of points need no join.
All other code that writes a `score` asks here first.
"""

from datetime import datetime

from sqlalchemy import ForeignKey, Integer, String
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class OverrideRow(Base):
    """`user_id` gave `score` points to an attempt of `whom_id`.

    It is deleted with the attempt, and remains, without the name, when the account of its author is deleted.
    """

    __tablename__ = "score_overrides"

    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    whom_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    score: Mapped[int] = mapped_column(Integer())
    reason: Mapped[str] = mapped_column(String(200))
    at: Mapped[datetime] = mapped_column(UTCDateTime())


async def score_that_counts(session: AsyncSession, attempt_id: str, score: int | None) -> int | None:
    """The points of an attempt whose verdict gives `score`."""
    row = await session.get(OverrideRow, attempt_id)
    return score if row is None else row.score
