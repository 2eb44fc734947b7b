"""The attempts table. With its lease and fence token it also is the embedded queue (app/queue/)."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Boolean, Float, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.database import Base, UTCDateTime


class AttemptRow(Base):
    """One grading, asked for and perhaps done.

    A worker that takes the row draws a `fence_token` and holds a lease until `lease_until`. It writes only where its
    token still stands, so that one that was paused and came back changes nothing. No token: nobody holds the row.

    Of the queued rows the lowest `priority` goes first, then the earliest `turn_at` (app/queue/turns.py), and none
    before its `not_before`.

    `accepted` and `efficiency` repeat what the verdict says, for queries: PostgreSQL cannot look into JSON that holds
    a NUL, which a submission may have printed. Only an accepted attempt has an `efficiency`, so only those are ranked.
    """

    __tablename__ = "attempts"
    __table_args__ = (
        Index("ix_attempts_user_id_created_at_id", "user_id", "created_at", "id"),
        Index("ix_attempts_status_priority_turn_at_id", "status", "priority", "turn_at", "id"),
        Index("ix_attempts_user_id_priority_turn_at", "user_id", "priority", "turn_at"),
        Index("ix_attempts_finished_at", "finished_at"),
        Index("ix_attempts_problem_efficiency", "problem", "efficiency"),
        # Of NULLs there may be any number, on both databases.
        Index("ix_attempts_user_id_idempotency_key", "user_id", "idempotency_key", unique=True),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    problem: Mapped[str] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    source: Mapped[str] = mapped_column(Text())
    status: Mapped[str] = mapped_column(String(16))
    phase: Mapped[str | None] = mapped_column(String(200))
    priority: Mapped[int] = mapped_column(Integer())
    turn_at: Mapped[datetime] = mapped_column(UTCDateTime(), default=now)
    not_before: Mapped[datetime | None] = mapped_column(UTCDateTime())
    tries: Mapped[int] = mapped_column(Integer())
    idempotency_key: Mapped[str | None] = mapped_column(String(255))
    fence_token: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None] = mapped_column(UTCDateTime())
    verdict: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    score: Mapped[int | None] = mapped_column(Integer())
    accepted: Mapped[bool | None] = mapped_column(Boolean())
    efficiency: Mapped[float | None] = mapped_column(Float())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    started_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
