"""The tables of lessons: runs of their programs, and which of them users marked as read."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ColumnElement, ForeignKey, Index, Integer, String, Text, true
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime
from app.grading.queue.models import KindOfWork, OwnedRow, Turn, line_indexes


class LessonRunRow(OwnedRow, Base):
    """One run of a program of a lesson, as its reader changed it.

    The process that runs it stores the `result`, and what its `function` was `compiled` to, if the lesson names one.
    """

    __tablename__ = "lesson_runs"
    kinds = (KindOfWork("lesson_run", "Runs of lessons' programs", Turn.WATCHED),)
    __table_args__ = (
        Index("ix_lesson_runs_user_id_lesson", "user_id", "lesson"),
        *line_indexes("lesson_runs"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    lesson: Mapped[str] = mapped_column(String(40))
    program: Mapped[int] = mapped_column(Integer())
    source: Mapped[str] = mapped_column(Text())
    function: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    result: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    compiled: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))

    @classmethod
    def is_forgettable(cls, guests: str) -> ColumnElement[bool]:
        return true()


class LessonReadRow(Base):
    """A lesson that a user marked as read."""

    __tablename__ = "lesson_reads"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    lesson: Mapped[str] = mapped_column(String(40), primary_key=True)
    read_at: Mapped[datetime] = mapped_column(UTCDateTime())
