"""The table of interviews."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class InterviewRow(Base):
    """One interview. `problems` has a `Place` (app/learning/interviews/interview.py) for each problem, in order.

    It is over at `ended_at`, and at the latest at `expires_at`, two hours after a problem began, so that nobody's hints
    stay closed.
    """

    __tablename__ = "interviews"
    __table_args__ = (Index("ix_interviews_user_id_created_at_id", "user_id", "created_at", "id"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    level: Mapped[str] = mapped_column(String(16))
    problems: Mapped[list[dict[str, Any]]] = mapped_column(JSON())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime())
    ended_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
