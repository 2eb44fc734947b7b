"""Every stored version of a problem, and which of them was published when, by whom, and after which validation."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import UserRow
from app.authoring.schemas import KeptVersionJSON, PublicationRecordJSON
from app.core.database import Database
from app.core.errors import ProblemNotFound, PublicationNotFound, VersionNotFound
from app.core.rest.paging import Cursor, Page, paged
from app.problems.models import PackageRow, PublicationRow, PublishedRow
from app.problems.package_store import Origin


@dataclass(frozen=True, slots=True)
class ProblemView:
    """A problem with its versions: `newer` counts those stored after `published`; all if none is."""

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

    async def versions(self, slug: str, cursor: Cursor) -> Page[KeptVersionJSON]:
        """Newest first. Raises `ProblemNotFound`, and `VersionNotFound` for the cursor."""
        row = PackageRow
        # Without the files, which have up to 4 MiB per version.
        query = (
            select(row.slug, row.version, PublishedRow.version.is_not(None), row.created_at)
            .outerjoin(PublishedRow, (PublishedRow.slug == row.slug) & (PublishedRow.version == row.version))
            .where(row.slug == slug)
        )

        def missing(version: str) -> VersionNotFound:
            return VersionNotFound(f"The problem {slug[:64]!r} has no version {version!r}.")

        async with self._database.reading() as session:
            await require_versions(session, slug)
            return await paged(
                session, query, (row.created_at, row.version), cursor, KeptVersionJSON.of_columns, missing=missing
            )

    async def publications(self, slug: str, cursor: Cursor) -> Page[PublicationRecordJSON]:
        """Newest first. Raises `ProblemNotFound`, and `PublicationNotFound` for the cursor."""
        row = PublicationRow
        query = (
            select(
                *(row.id, row.problem, row.version, row.origin, UserRow.name),
                *(row.validated, row.forced, row.published_at),
            )
            .outerjoin(UserRow, UserRow.id == row.user_id)
            .where(row.problem == slug)
        )

        def missing(publication_id: str) -> PublicationNotFound:
            return PublicationNotFound(f"The problem {slug[:64]!r} has no publication {publication_id!r}.")

        async with self._database.reading() as session:
            await require_versions(session, slug)
            return await paged(
                session, query, (row.published_at, row.id), cursor, PublicationRecordJSON.of_columns, missing=missing
            )


async def require_versions(session: AsyncSession, slug: str) -> None:
    """Raises `ProblemNotFound` if no version of this problem was ever stored."""
    if not await session.scalar(select(func.count()).where(PackageRow.slug == slug)):
        raise ProblemNotFound(f"There is no problem {slug[:64]!r}, and no version of it was uploaded.")
