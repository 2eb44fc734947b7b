"""Tables of rejudges, and of the attempts in each."""

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base, UTCDateTime


class RejudgeRow(Base):
    """A rejudge of a problem: this version grades the attempts of other versions again.

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
