"""The table of validations."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base, UTCDateTime
from app.lease import LeasedRow


class ValidationRow(LeasedRow, Base):
    """One validation of a version with the judge: queued, running or finished. `steps` grows while it runs.

    A process leases the row (app/lease.py).
    """

    # The table and the column of the steps have the names of an earlier version.
    __tablename__ = "proofs"
    __table_args__ = (
        Index("ix_proofs_status_created_at", "status", "created_at"),
        Index("ix_proofs_version_created_at", "version", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    status: Mapped[str] = mapped_column(String(16))
    steps: Mapped[list[dict[str, Any]]] = mapped_column("findings", JSON())
    total: Mapped[int] = mapped_column(Integer())
    tries: Mapped[int] = mapped_column(Integer())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
