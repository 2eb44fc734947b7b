"""Tables of LTI: platforms, the keys of this tool, launches, what was linked in a platform, and scores to send."""

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime
from app.core.outbox import OutboxRow, failing_index


class PlatformRow(Base):
    """A learning platform that an owner registered. `deployments` are its deployment ids, one on each line."""

    __tablename__ = "lti_platforms"
    __table_args__ = (UniqueConstraint("issuer", "client_id", name="uq_lti_platforms_issuer_client_id"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    issuer: Mapped[str] = mapped_column(String(200))
    client_id: Mapped[str] = mapped_column(String(200))
    login_url: Mapped[str] = mapped_column(String(1000))
    token_url: Mapped[str] = mapped_column(String(1000))
    keys_url: Mapped[str] = mapped_column(String(1000))
    deployments: Mapped[str] = mapped_column(Text())
    grants_instructor: Mapped[bool] = mapped_column(Boolean())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class KeyRow(Base):
    """A key pair of this tool. `sealed` is the private key, encrypted with a key from the deployment secret."""

    __tablename__ = "lti_keys"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    sealed: Mapped[str] = mapped_column(Text())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class LaunchRow(Base):
    """A verified launch, by the hash of its nonce, so that no message counts twice. Removed once its state has expired.

    The browser that has the ticket finishes it. `ticket_hash` is null once it has. `browser_hash` belongs to the cookie
    of the browser that began.
    """

    __tablename__ = "lti_launches"

    nonce_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    ticket_hash: Mapped[str | None] = mapped_column(String(64), unique=True)
    browser_hash: Mapped[str] = mapped_column(String(64))
    platform_id: Mapped[str] = mapped_column(ForeignKey("lti_platforms.id", ondelete="CASCADE"))
    message: Mapped[str] = mapped_column(Text())
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime(), index=True)


class ContextRow(Base):
    """A course of a platform, and the course here that it is linked to."""

    __tablename__ = "lti_contexts"
    __table_args__ = (UniqueConstraint("platform_id", "context", name="uq_lti_contexts_platform_id_context"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    platform_id: Mapped[str] = mapped_column(ForeignKey("lti_platforms.id", ondelete="CASCADE"))
    context: Mapped[str] = mapped_column(String(255))
    title: Mapped[str] = mapped_column(String(100))
    members_url: Mapped[str | None] = mapped_column(String(1000))
    course_id: Mapped[str | None] = mapped_column(ForeignKey("courses.id", ondelete="SET NULL"), index=True)
    roster_at: Mapped[datetime | None] = mapped_column(UTCDateTime())


class LinkRow(Base):
    """A link in a platform to a problem or an assignment, with its column in the platform's gradebook, if any."""

    __tablename__ = "lti_links"
    __table_args__ = (UniqueConstraint("context_id", "resource", name="uq_lti_links_context_id_resource"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    context_id: Mapped[str] = mapped_column(ForeignKey("lti_contexts.id", ondelete="CASCADE"))
    resource: Mapped[str] = mapped_column(String(255))
    title: Mapped[str] = mapped_column(String(100))
    problem: Mapped[str | None] = mapped_column(String(64), index=True)
    assignment_id: Mapped[str | None] = mapped_column(ForeignKey("assignments.id", ondelete="SET NULL"), index=True)
    line_item: Mapped[str | None] = mapped_column(String(1000))


class ScoreRow(OutboxRow, Base):
    """The score of one student for one link."""

    __tablename__ = "lti_scores"
    __table_args__ = (
        UniqueConstraint("link_id", "subject", name="uq_lti_scores_link_id_subject"),
        Index("ix_lti_scores_next_try_at", "next_try_at"),
        failing_index("lti_scores"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    link_id: Mapped[str] = mapped_column(ForeignKey("lti_links.id", ondelete="CASCADE"))
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    subject: Mapped[str] = mapped_column(String(255))


class SelectionRow(Base):
    """An instructor chooses what a platform links to. `return_url` and `data` come from the platform's message."""

    __tablename__ = "lti_selections"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    context_id: Mapped[str | None] = mapped_column(ForeignKey("lti_contexts.id", ondelete="CASCADE"))
    platform_id: Mapped[str] = mapped_column(ForeignKey("lti_platforms.id", ondelete="CASCADE"))
    deployment: Mapped[str] = mapped_column(String(255))
    return_url: Mapped[str] = mapped_column(String(1000))
    data: Mapped[str | None] = mapped_column(Text())
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime())
