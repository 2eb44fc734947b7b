"""Tables of problem packages: every version that was ever served, and which one of a problem is served now."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base, UTCDateTime


class PackageRow(Base):
    """One version, never changed. `version` is the content hash, `files` the text of each file by its path."""

    __tablename__ = "packages"

    version: Mapped[str] = mapped_column(String(64), primary_key=True)
    slug: Mapped[str] = mapped_column(String(64), index=True)
    files: Mapped[dict[str, str]] = mapped_column(JSON())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class PublishedRow(Base):
    """Which version of a problem is served. `origin`: `folder`, the operator's, or `upload`, an instructor's."""

    __tablename__ = "published"

    slug: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    origin: Mapped[str] = mapped_column(String(16))
    published_at: Mapped[datetime] = mapped_column(UTCDateTime())
