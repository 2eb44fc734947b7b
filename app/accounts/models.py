"""Tables of users and their credentials.

Only a hash of each secret is stored: SHA-256 for random ones, argon2 for passwords. The export of a user's data omits
every column that is named like a secret: see export.py.
"""

from datetime import datetime

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table, true
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class UserRow(Base):
    """`password_hash` is null if the user signs in another way. Rankings show `ranking_name`, or else `name`.

    While `deactivated_at` is set, nobody can sign in to the account, and its API tokens are refused.
    """

    __tablename__ = "users"
    __table_args__ = (Index("ix_users_ranking_name", "ranking_name", unique=True),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    role: Mapped[str] = mapped_column(String(16))
    password_hash: Mapped[str | None] = mapped_column(String(255))
    ranking_name: Mapped[str | None] = mapped_column(String(200))
    in_rankings: Mapped[bool] = mapped_column(Boolean(), default=True, server_default=true())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    deactivated_at: Mapped[datetime | None] = mapped_column(UTCDateTime())


class SessionRow(Base):
    """A signed-in browser. Removing the row revokes it. `id` names the session where its token must stay secret.

    `authenticated_at` is when its user last proved their identity: see recent_sign_in.py.
    """

    __tablename__ = "sessions"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    id: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    user_agent: Mapped[str] = mapped_column(String(300))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    authenticated_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    last_used_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime())


class SignInLinkRow(Base):
    """A link that signs one browser in, once."""

    __tablename__ = "sign_in_links"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime())


class APITokenRow(Base):
    """A bearer token. `preset` marks the one from MESHGRADE_OWNER_TOKEN. Spaces separate the `scopes`."""

    __tablename__ = "api_tokens"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    id: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    scopes: Mapped[str] = mapped_column(String(100))
    preset: Mapped[bool] = mapped_column(Boolean())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    last_used_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
    expires_at: Mapped[datetime | None] = mapped_column(UTCDateTime())


class InvitationRow(Base):
    """A link that creates one account. `user_id` is its author. Using or revoking it removes the row."""

    __tablename__ = "invitations"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    id: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    role: Mapped[str] = mapped_column(String(16))
    note: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime())


class IdentityRow(Base):
    """A user's identity at a sign-in provider. `subject` never changes there; `name` is only shown."""

    __tablename__ = "identities"

    issuer: Mapped[str] = mapped_column(String(255), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    id: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


# Release 0.2.0 counts in these two and may run beside this one, which counts in `limit_counts` (app/core/limits.py).
# The next release drops them.
Table(
    "sign_in_failures",
    Base.metadata,
    Column("subject_hash", String(64), primary_key=True),
    Column("failures", Integer(), nullable=False),
    Column("last_at", UTCDateTime(), nullable=False, index=True),
    Column("blocked_until", UTCDateTime()),
)
Table(
    "sign_up_counts",
    Base.metadata,
    Column("subject_hash", String(64), primary_key=True),
    Column("tries", Integer(), nullable=False),
    Column("ends_at", UTCDateTime(), nullable=False, index=True),
)
