"""The table of explorations."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ColumnElement, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime
from app.grading.queue.models import KindOfWork, OwnedRow, Turn, line_indexes


class ExplorationRow(OwnedRow, Base):
    """One exploration. The process that runs it stores the `result`, of which a running one has at most the program for
    the first mesh: read it as `whole_result` or `partial_result`.

    It is of a version of a problem, and of its author's variant if it has some, or of a function that belongs to none.

    With a `chip`, it is compiled for a slice of those chips as well, with `xla_options` if they are GPUs, and the other
    source with `against_xla_options`; null if none were chosen.

    `digest` is equal for equal work, also of different people. From `shared_at` on, anyone can read it. `phase` is what
    a running one is doing.
    """

    __tablename__ = "explorations"
    kinds = (KindOfWork("exploration", "Explorations", Turn.WATCHED),)
    __table_args__ = (
        Index("ix_explorations_user_id_created_at", "user_id", "created_at"),
        Index("ix_explorations_digest", "digest"),
        *line_indexes("explorations"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64))
    problem: Mapped[str | None] = mapped_column(String(64))
    version: Mapped[str | None] = mapped_column(ForeignKey("packages.version"))
    variant: Mapped[str | None] = mapped_column(String(32))
    function: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    source: Mapped[str] = mapped_column(Text())
    against: Mapped[str | None] = mapped_column(Text())
    chip: Mapped[str | None] = mapped_column(String(8))
    xla_options: Mapped[dict[str, str] | None] = mapped_column(JSON(none_as_null=True))
    against_xla_options: Mapped[dict[str, str] | None] = mapped_column(JSON(none_as_null=True))
    phase: Mapped[str | None] = mapped_column(String(100))
    result: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    shared_at: Mapped[datetime | None] = mapped_column(UTCDateTime())

    @classmethod
    def is_long(cls) -> ColumnElement[bool]:
        return cls.chip.is_not(None)

    @property
    def long(self) -> bool:
        return self.chip is not None

    @property
    def is_comparison(self) -> bool:
        return self.against is not None

    @property
    def has_fault(self) -> bool | None:
        """None until it has finished."""
        return None if self.whole_result is None else self.whole_result.get("fault") is not None

    @property
    def whole_result(self) -> dict[str, Any] | None:
        return self.result if self.status == "finished" else None

    @property
    def partial_result(self) -> dict[str, Any] | None:
        return self.result if self.status == "running" else None
