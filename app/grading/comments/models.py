"""The table of comments."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class CommentRow(Base):
    """What `user_id` wrote on a line of an attempt of `whom_id`.

    It is deleted with the attempt, and remains, without the name, when the account of its author is deleted. `seen_at`
    is when the attempt's owner first saw it beside the source.
    """

    __tablename__ = "comments"
    __table_args__ = (Index("ix_comments_attempt_id_line", "attempt_id", "line"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    whom_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"))
    line: Mapped[int] = mapped_column(Integer())
    text: Mapped[str] = mapped_column(Text())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    seen_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    resolved_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
