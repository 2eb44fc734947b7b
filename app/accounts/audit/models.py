"""The table of the audit log."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class AuditRow(Base):
    """`user_id` did `action` to `whom_id`, or to a problem or a course. It never changes, and remains,
    without the names, when an account is deleted.

    `course_id` is the course that it was done in, which may be deleted by now.
    `detail` says what changed, such as `student to instructor`, and `reason` is what the actor typed.
    """

    __tablename__ = "audit_log"
    __table_args__ = (
        Index("ix_audit_log_at_id", "at", "id"),
        Index("ix_audit_log_course_id_at_id", "course_id", "at", "id"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime] = mapped_column(UTCDateTime())
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    whom_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    action: Mapped[str] = mapped_column(String(32))
    detail: Mapped[str] = mapped_column(String(200))
    reason: Mapped[str] = mapped_column(String(200))
    course_id: Mapped[str | None] = mapped_column(String(32))
