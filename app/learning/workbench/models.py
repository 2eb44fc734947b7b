"""The tables of drafts and of reported faults."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class DraftRow(Base):
    """What one user last typed at one problem. Each save that changes the text increments `revision`.

    `begun_at` is when the first text was saved.
    """

    __tablename__ = "drafts"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    problem: Mapped[str] = mapped_column(String(64), primary_key=True)
    source: Mapped[str] = mapped_column(Text())
    revision: Mapped[int] = mapped_column(Integer())
    saved_at: Mapped[datetime] = mapped_column(UTCDateTime())
    begun_at: Mapped[datetime] = mapped_column(UTCDateTime(), nullable=True)


class ReplacedDraftRow(Base):
    """A draft that a restored source replaced, and that was never sent: nothing else has this text."""

    __tablename__ = "replaced_drafts"
    __table_args__ = (Index("ix_replaced_drafts_user_id_replaced_at", "user_id", "replaced_at"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    problem: Mapped[str] = mapped_column(String(64))
    source: Mapped[str] = mapped_column(Text())
    replaced_at: Mapped[datetime] = mapped_column(UTCDateTime())


class FaultReportRow(Base):
    """What a user found wrong with a version of a problem. `done_at` is when an instructor had dealt with it."""

    __tablename__ = "fault_reports"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    problem: Mapped[str] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(String(64))
    text: Mapped[str] = mapped_column(Text())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    done_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
