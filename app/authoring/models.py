"""The table of validations."""

from typing import Any

from sqlalchemy import JSON, ColumnElement, ForeignKey, Index, Integer, String, select, true
from sqlalchemy.orm import Mapped, column_property, mapped_column

from app.core.database import Base
from app.grading.queue.models import KindOfWork, Turn, WorkRow, line_indexes
from app.problems.models import PackageRow


class ValidationRow(WorkRow, Base):
    """One validation of a version with the judge. `steps` grows while it runs.

    `slug` is the problem of the version; a query loads it with `undefer`.
    """

    # The table and the column of the steps have the names of an earlier version.
    __tablename__ = "proofs"
    kinds = (KindOfWork("validation", "Validations", Turn.VALIDATION),)
    __table_args__ = (
        *line_indexes("proofs"),
        Index("ix_proofs_version_created_at", "version", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    steps: Mapped[list[dict[str, Any]]] = mapped_column("findings", JSON())
    total: Mapped[int] = mapped_column(Integer())
    slug: Mapped[str] = column_property(
        select(PackageRow.slug).where(PackageRow.version == version).correlate_except(PackageRow).scalar_subquery(),
        deferred=True,
    )

    @classmethod
    def is_long(cls) -> ColumnElement[bool]:
        return true()

    @property
    def long(self) -> bool:
        return True
