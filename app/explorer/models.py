"""The table of explorations."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base, UTCDateTime
from app.lease import LeasedRow


class ExplorationRow(LeasedRow, Base):
    """One exploration: queued, running or finished. A process leases the row (app/lease.py) and stores the `result`.

    `digest` is equal for equal work, also of different people. Anybody can read it from `shared_at` on.
    """

    __tablename__ = "explorations"
    __table_args__ = (
        Index("ix_explorations_user_id_created_at", "user_id", "created_at"),
        Index("ix_explorations_digest", "digest"),
        Index("ix_explorations_status_created_at", "status", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    digest: Mapped[str] = mapped_column(String(64))
    problem: Mapped[str] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    source: Mapped[str] = mapped_column(Text())
    against: Mapped[str | None] = mapped_column(Text())
    status: Mapped[str] = mapped_column(String(16))
    result: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    tries: Mapped[int] = mapped_column(Integer())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    shared_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
