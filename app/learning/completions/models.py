"""The tables of completed tracks that people share, and of the key that signs their badges."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class CompletionRow(Base):
    """A page on which anyone with the link reads what one user solved in one track, as it was on that day.

    `id` is also the badge's. `verified` has the fields of `Verified`.
    """

    __tablename__ = "completions"
    __table_args__ = (UniqueConstraint("user_id", "track", name="uq_completions_user_id_track"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    track: Mapped[str] = mapped_column(String(40))
    verified: Mapped[dict[str, Any]] = mapped_column(JSON())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class IssuedBadgeRow(Base):
    """Every badge that was ever issued. One whose completion is gone is revoked, however it went.

    It says nothing of whose it was, so that it can outlive the account.
    """

    __tablename__ = "issued_badges"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime] = mapped_column(UTCDateTime())


class BadgeKeyRow(Base):
    """The key pair that signs badges. `sealed` is the private key, encrypted with a key from the deployment secret."""

    __tablename__ = "badge_keys"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    sealed: Mapped[str] = mapped_column(Text())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
