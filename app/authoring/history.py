"""Every stored version of a problem, and which of them was published when, by whom, and after which validation."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import case, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import UserRow
from app.database import Database
from app.errors import ProblemNotFound, PublicationNotFound, VersionNotFound
from app.ids import is_id
from app.problems.models import PackageRow, PublicationRow, PublishedRow
from app.problems.store import Origin


@dataclass(frozen=True, slots=True)
class VersionView:
    slug: str
    version: str
    is_published: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PublicationView:
    """`user` is None if the version came from the problems folder, or if the account was deleted.

    `validated` is whether the latest validation that had finished by then passed; None if there was none. `forced` is
    true if the version was published although it had not.
    """

    id: str
    slug: str
    version: str
    origin: Origin
    user: str | None
    validated: bool | None
    forced: bool
    published_at: datetime


@dataclass(frozen=True, slots=True)
class ProblemView:
    """A problem with its versions: `newer` counts those stored since `published` was, or none is."""

    slug: str
    published: str | None
    published_at: datetime | None
    origin: Origin | None
    versions: int
    newer: int
    stored_at: datetime


class History:
    """Safe to share between requests. Lists are newest first. `before` names the last row of the previous page."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def problems(self) -> list[ProblemView]:
        """Every problem of which a version was ever stored, sorted by slug."""
        row, published = PackageRow, PublishedRow
        is_newer = (row.version != published.version) & (row.created_at > published.published_at)
        query = (
            select(
                row.slug,
                published.version,
                published.published_at,
                published.origin,
                func.count(),
                func.sum(case((is_newer, 1), else_=0)),
                func.max(row.created_at),
            )
            .outerjoin(published, published.slug == row.slug)
            .group_by(row.slug, published.version, published.published_at, published.origin)
            .order_by(row.slug)
        )
        async with self._database.reading() as session:
            return [
                ProblemView(slug, version, at, cast(Origin | None, origin), number, newer or 0, stored_at)
                for slug, version, at, origin, number, newer, stored_at in await session.execute(query)
            ]

    async def versions(self, slug: str, limit: int, before: str | None = None) -> list[VersionView]:
        """Raises `ProblemNotFound`, and `VersionNotFound` for `before`."""
        row = PackageRow
        # Without the files, which have up to 4 MiB per version.
        query = (
            select(row.version, row.created_at, PublishedRow.version.is_not(None).label("is_published"))
            .outerjoin(PublishedRow, (PublishedRow.slug == row.slug) & (PublishedRow.version == row.version))
            .where(row.slug == slug)
            .order_by(row.created_at.desc(), row.version.desc())
            .limit(limit)
        )
        async with self._database.reading() as session:
            await require_versions(session, slug)
            if before is not None:
                of_this = select(row.created_at).where(row.version == before, row.slug == slug)
                last_at = await session.scalar(of_this)
                if last_at is None:
                    raise VersionNotFound(f"The problem {slug[:64]!r} has no version {before[:64]!r}.")
                query = query.where(tuple_(row.created_at, row.version) < tuple_(last_at, before))
            return [
                VersionView(slug, each.version, bool(each.is_published), each.created_at)
                for each in await session.execute(query)
            ]

    async def publications(self, slug: str, limit: int, before: str | None = None) -> list[PublicationView]:
        """Raises `ProblemNotFound`, and `PublicationNotFound` for `before`."""
        row = PublicationRow
        query = (
            select(row, UserRow.name)
            .outerjoin(UserRow, UserRow.id == row.user_id)
            .where(row.problem == slug)
            .order_by(row.published_at.desc(), row.id.desc())
            .limit(limit)
        )
        async with self._database.reading() as session:
            await require_versions(session, slug)
            if before is not None:
                last = await session.get(row, before) if is_id(before) else None
                if last is None or last.problem != slug:
                    raise PublicationNotFound(f"The problem {slug[:64]!r} has no publication {before[:64]!r}.")
                query = query.where(tuple_(row.published_at, row.id) < tuple_(last.published_at, last.id))
            return [
                PublicationView(
                    id=each.id,
                    slug=each.problem,
                    version=each.version,
                    origin=cast(Origin, each.origin),
                    user=name,
                    validated=each.validated,
                    forced=each.forced,
                    published_at=each.published_at,
                )
                for each, name in await session.execute(query)
            ]


async def require_versions(session: AsyncSession, slug: str) -> None:
    """Raises `ProblemNotFound` if no version of this problem was ever stored."""
    if not await session.scalar(select(func.count()).where(PackageRow.slug == slug)):
        raise ProblemNotFound(f"There is no problem {slug[:64]!r}, and no version of it was uploaded.")
