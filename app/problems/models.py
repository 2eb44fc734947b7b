"""Tables of problem packages: every version, its questions, its texts as pages show them, which one is published now,
what was published when, and which ones only a course sees.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Boolean, ForeignKey, Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime


class PackageRow(Base):
    """One version, which never changes. `version` is the content hash. `files` maps paths to texts.

    `known` are the fingerprints of its known mistakes (grader/verdicts/fingerprint.py) and `pictures` what its page
    draws (grader/verdicts/pictures.py): they follow from the files and from JAX. `explained` is whether stored attempts
    were compared with the known mistakes (app/teaching/insight/misconception_backfill.py).
    """

    __tablename__ = "packages"
    __table_args__ = (Index("ix_packages_slug_created_at_version", "slug", "created_at", "version"),)

    version: Mapped[str] = mapped_column(String(64), primary_key=True)
    slug: Mapped[str] = mapped_column(String(64))
    files: Mapped[dict[str, str]] = mapped_column(JSON())
    known: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    pictures: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    explained: Mapped[bool] = mapped_column(Boolean(), default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())


class PublishedRow(Base):
    """The published version of a problem. `origin` is `folder` (from the operator) or `upload` (an instructor's)."""

    __tablename__ = "published"

    slug: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    origin: Mapped[str] = mapped_column(String(16))
    published_at: Mapped[datetime] = mapped_column(UTCDateTime())


class CourseProblemRow(Base):
    """The version of a problem that the members of one course see from `visible_from` on.

    If the problem is not published, nobody else sees it, except for instructors and owners.
    """

    __tablename__ = "course_problems"

    course_id: Mapped[str] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True)
    problem: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    visible_from: Mapped[datetime] = mapped_column(UTCDateTime())


class QuestionsRow(Base):
    """The questions drawn for a version of an answer-mode problem, with their answers
    (grader/answers/question_variants.py).
    """

    __tablename__ = "questions"

    version: Mapped[str] = mapped_column(ForeignKey("packages.version"), primary_key=True)
    drawn: Mapped[dict[str, Any]] = mapped_column(JSON())
    drawn_at: Mapped[datetime] = mapped_column(UTCDateTime())


class RenderedRow(Base):
    """Texts of a package as pages show them. `digest` is of the texts and of `renderer`, which is a hash of code."""

    __tablename__ = "rendered_texts"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    renderer: Mapped[str] = mapped_column(String(64), index=True)
    rendered: Mapped[dict[str, Any]] = mapped_column(JSON())
    rendered_at: Mapped[datetime] = mapped_column(UTCDateTime())


class PublicationRow(Base):
    """One publication of a version. It never changes, and remains when the account of its author is deleted.

    `user_id` is null if the version came from the problems folder. `validated` is whether the latest validation that
    had finished by then passed; null without one. `forced`: an instructor published it although it had not passed.
    """

    __tablename__ = "publications"
    __table_args__ = (Index("ix_publications_problem_published_at_id", "problem", "published_at", "id"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    problem: Mapped[str] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(ForeignKey("packages.version"))
    origin: Mapped[str] = mapped_column(String(16))
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    # The column has the name of an earlier version.
    validated: Mapped[bool | None] = mapped_column("checked", Boolean())
    forced: Mapped[bool] = mapped_column(Boolean())
    published_at: Mapped[datetime] = mapped_column(UTCDateTime())
