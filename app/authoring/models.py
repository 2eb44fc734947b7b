"""The table of checks of versions."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base, UTCDateTime


class ProofRow(Base):
    """One check of a version with the judge: wanted, under way or done. `findings` grows as it goes on.

    A process that takes the row holds a lease under a fence token, as of an attempt: whoever lost it writes nothing.
    """

    __tablename__ = "proofs"
    __table_args__ = (
        Index("ix_proofs_status_created_at", "status", "created_at"),
        Index("ix_proofs_version_created_at", "version", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    status: Mapped[str] = mapped_column(String(16))
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSON())
    total: Mapped[int] = mapped_column(Integer())
    tries: Mapped[int] = mapped_column(Integer())
    fence_token: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None] = mapped_column(UTCDateTime())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
