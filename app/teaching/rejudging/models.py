"""Tables of rejudges, and of the attempts in each."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Boolean, ColumnElement, ForeignKey, Index, Integer, String, and_, false, or_
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class RejudgeRow(Base):
    """A rejudge of a problem: this version grades attempts of other versions again.

    `selection` says which (app/teaching/rejudging/selection.py); null for all of them. If `never_lower`, applying it
    changed no attempt that would lose points or its status `accepted`.

    `status`: `running`, `finished` (the instructor decides), `applying`, `applied` or `cancelled`.
    """

    __tablename__ = "rejudges"
    __table_args__ = (
        Index("ix_rejudges_status", "status"),
        Index("ix_rejudges_problem_status", "problem", "status"),
        Index("ix_rejudges_problem_created_at_id", "problem", "created_at", "id"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    problem: Mapped[str] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    status: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    applied_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    selection: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    never_lower: Mapped[bool] = mapped_column(Boolean(), default=False, server_default=false())


class RejudgedRow(Base):
    """One attempt in a rejudge. `status`: `waiting` (no trial yet), `queued`, `graded` or `applied`.

    The trial is a row of the attempts table, of the kind `rejudge` and of the same user, so it is queued, leased and
    deleted like any attempt, but nobody sees it. Once the rejudge is applied, it has the attempt's previous verdict.
    """

    __tablename__ = "rejudged"
    __table_args__ = (
        Index("ix_rejudged_rejudge_id_status", "rejudge_id", "status", "attempt_id"),
        Index("ix_rejudged_rejudge_id_changed", "rejudge_id", "changed", "attempt_id"),
        Index("ix_rejudged_attempt_id", "attempt_id"),
        Index("ix_rejudged_trial_id", "trial_id"),
    )

    rejudge_id: Mapped[str] = mapped_column(ForeignKey("rejudges.id", ondelete="CASCADE"), primary_key=True)
    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"), primary_key=True)
    trial_id: Mapped[str | None] = mapped_column(ForeignKey("attempts.id", ondelete="SET NULL"))
    status: Mapped[str] = mapped_column(String(16))
    changed: Mapped[bool] = mapped_column(Boolean())
    old_version: Mapped[str] = mapped_column(String(64))
    old_status: Mapped[str] = mapped_column(String(16))
    old_score: Mapped[int] = mapped_column(Integer())
    new_status: Mapped[str | None] = mapped_column(String(16))
    new_reason: Mapped[str | None] = mapped_column(String(32))
    new_score: Mapped[int | None] = mapped_column(Integer())

    @property
    def loses(self) -> bool:
        """Whether the new verdict takes points or the status `accepted` away."""
        lost = self.old_status == "accepted" and self.new_status == "rejected"
        return lost or (self.new_score is not None and self.new_score < self.old_score)


def loses() -> ColumnElement[bool]:
    """`RejudgedRow.loses`, for a query."""
    row = RejudgedRow
    lost = and_(row.old_status == "accepted", row.new_status == "rejected")
    return or_(lost, and_(row.new_score.is_not(None), row.new_score < row.old_score))
