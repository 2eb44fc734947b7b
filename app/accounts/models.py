"""Tables of people and of what proves who they are. Of a secret only a hash is kept: SHA-256 of those that the service
draws, argon2 of passwords. (What is exported to its owner leaves every column named like a secret out: export.py.)"""

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base, UTCDateTime


class UserRow(Base):
    """`password_hash` is null for one who signs in otherwise."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    role: Mapped[str] = mapped_column(String(16))
    password_hash: Mapped[str | None] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class SessionRow(Base):
    """A browser that is signed in. Revoked by removing the row. `id` names it where its token must not be known.

    `authenticated_at`: when the person behind it last proved who they are: recent.py.
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
    """A bearer token. `preset` marks the one that came from MESHGRADE_OWNER_TOKEN; `scopes` are parted by spaces."""

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
    """A link that makes one account. `user_id` made it; using it up or revoking it removes the row."""

    __tablename__ = "invitations"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    id: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    role: Mapped[str] = mapped_column(String(16))
    note: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime())


class IdentityRow(Base):
    """Who somebody is at a provider of sign-ins: `subject` never changes there, `name` is only shown."""

    __tablename__ = "identities"

    issuer: Mapped[str] = mapped_column(String(255), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    id: Mapped[str] = mapped_column(String(32), unique=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class SignInFailureRow(Base):
    """Sign-ins that failed of late, by the hash of what they had in common: see throttle.py."""

    __tablename__ = "sign_in_failures"

    subject_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    failures: Mapped[int] = mapped_column(Integer())
    last_at: Mapped[datetime] = mapped_column(UTCDateTime(), index=True)
    blocked_until: Mapped[datetime | None] = mapped_column(UTCDateTime())


class SignUpCountRow(Base):
    """How many accounts were asked for in an hour, by the hash of what they have in common: sign_up_brake.py."""

    __tablename__ = "sign_up_counts"

    subject_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    tries: Mapped[int] = mapped_column(Integer())
    ends_at: Mapped[datetime] = mapped_column(UTCDateTime(), index=True)
