"""Tables of problem packages: every version there ever was, which one is served now, and what was published when."""

from datetime import datetime

from sqlalchemy import JSON, Boolean, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base, UTCDateTime


class PackageRow(Base):
    """One version, never changed. `version` is the content hash, `files` the text of each file by its path."""

    __tablename__ = "packages"
    __table_args__ = (Index("ix_packages_slug_created_at_version", "slug", "created_at", "version"),)

    version: Mapped[str] = mapped_column(String(64), primary_key=True)
    slug: Mapped[str] = mapped_column(String(64))
    files: Mapped[dict[str, str]] = mapped_column(JSON())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class PublishedRow(Base):
    """Which version of a problem is served. `origin`: `folder`, the operator's, or `upload`, an instructor's."""

    __tablename__ = "published"

    slug: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    origin: Mapped[str] = mapped_column(String(16))
    published_at: Mapped[datetime] = mapped_column(UTCDateTime())


class PublicationRow(Base):
    """That a version was published: never changed, and kept when the account of who did it is deleted.

    `user_id` is null for what came out of the problems folder. `checked` is whether the last check that had ended by
    then passed, null without one; `forced`, that an instructor published it although it had not.
    """

    __tablename__ = "publications"
    __table_args__ = (Index("ix_publications_problem_published_at_id", "problem", "published_at", "id"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    problem: Mapped[str] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    origin: Mapped[str] = mapped_column(String(16))
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    checked: Mapped[bool | None] = mapped_column(Boolean())
    forced: Mapped[bool] = mapped_column(Boolean())
    published_at: Mapped[datetime] = mapped_column(UTCDateTime())
