"""Tables of repositories and their syncs."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Boolean, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class RepositoryRow(Base):
    """A git repository or a folder of the server, registered by an instructor. `address` is a URL or an absolute path.

    `sealed_token` is the access token, encrypted with a key from the deployment secret, from which the secret of the
    webhook is derived.
    """

    __tablename__ = "repositories"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str] = mapped_column(String(8))
    address: Mapped[str] = mapped_column(String(500))
    branch: Mapped[str] = mapped_column(String(200))
    folder: Mapped[str] = mapped_column(String(200))
    username: Mapped[str] = mapped_column(String(100))
    sealed_token: Mapped[str | None] = mapped_column(Text())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class SyncRow(Base):
    """One reading of a repository. It is over at `finished_at`, or, if its process died, at `until`.

    `again` asks for one more afterwards: a push arrived while it was running. `fault` says why nothing could be read.
    """

    __tablename__ = "repository_syncs"
    __table_args__ = (Index("ix_repository_syncs_repository_id_created_at", "repository_id", "created_at"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    repository_id: Mapped[str] = mapped_column(ForeignKey("repositories.id", ondelete="CASCADE"))
    cause: Mapped[str] = mapped_column(String(8))
    again: Mapped[bool] = mapped_column(Boolean())
    commit: Mapped[str | None] = mapped_column(String(64))
    fault: Mapped[str | None] = mapped_column(String(500))
    problems: Mapped[list[dict[str, Any]]] = mapped_column(JSON())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    until: Mapped[datetime] = mapped_column(UTCDateTime())
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime())
