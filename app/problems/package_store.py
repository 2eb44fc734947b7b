"""Problem packages in the database, by content hash. Every process that grades reads them from here."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from pydantic import ValidationError
from sqlalchemy import Select, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.errors import PackageNotStored, VersionNotFound
from app.core.ids import new_id
from app.core.migrate import refuse_if_not_newest
from app.problems.models import CourseProblemRow, PackageRow, PublicationRow, PublishedRow
from grader.package.fault import PackageInvalid
from grader.package.package import Package
from grader.review.reader import package_of
from grader.verdicts.fingerprint import KnownFingerprints
from grader.verdicts.pictures import Pictures

Origin = Literal["folder", "upload"]
_CACHE_SIZE = 256


class PackageStore:
    """Safe to share between tasks of one event loop. Versions never change, so each is read once and cached."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read: dict[str, Package] = {}

    async def add(self, package: Package) -> bool:
        """Store this version. Returns `False` if it is already stored."""
        async with self._database.writing() as session:
            return await _add(session, package)

    async def get(self, version: str) -> Package:
        """Read a version and compute its hash again, so that a row that was changed or cut off never grades anything.

        Raises:
          PackageNotStored: it is missing or damaged.
          Outdated: this process cannot read it, but a newer one may.
        """
        package = self._read.get(version)
        # Without its fingerprints or pictures, it is read again: a validation may have stored them meanwhile.
        if package is not None and package.known is not None and package.pictures is not None:
            return package
        async with self._database.reading() as session:
            if package is not None and not await session.scalar(_has_more_than(package)):
                return package
            row = await session.get(PackageRow, version)
        if row is None:
            raise PackageNotStored(f"the database has no package of version {version[:64]!r}")
        try:
            package = package_of(row.slug, row.files, is_stored=True)
        except PackageInvalid as fault:
            async with self._database.reading() as session:
                await refuse_if_not_newest(session)
            raise PackageNotStored(f"the package of version {version} in the database is damaged: {fault}") from None
        if package.version != version:
            raise PackageNotStored(f"the package of version {version} in the database has the hash {package.version}")
        package = replace(package, known=_known_of(row), pictures=_pictures_of(row))
        if len(self._read) >= _CACHE_SIZE:
            self._read.pop(next(iter(self._read)))
        self._read[version] = package
        return package

    async def put_known(self, version: str, known: KnownFingerprints) -> None:
        """Store the fingerprints of a version's known mistakes, unless it is gone."""
        async with self._database.writing() as session:
            await _put_computed(session, version, known, None)
        self._read.pop(version, None)

    async def put_pictures(self, version: str, pictures: Pictures) -> None:
        """Store what the page of a version draws, unless it is gone."""
        async with self._database.writing() as session:
            await _put_computed(session, version, None, pictures)
        self._read.pop(version, None)

    async def version_of(self, slug: str, version: str) -> Package:
        """The version that an instructor names. Raises `VersionNotFound`, even if it belongs to another problem."""
        if not version:
            raise VersionNotFound("Nothing was done: no version was named. Give the hash of one.")
        # No database needs to see other text: PostgreSQL fails on NUL.
        if not re.fullmatch("[0-9a-f]{64}", version):
            raise VersionNotFound(f"Nothing was done: {version[:64]!r} is not the hash of a version.")
        try:
            package = await self.get(version)
        except PackageNotStored as error:
            raise VersionNotFound(f"Nothing was done: {error}. Upload it first.") from None
        if package.slug != slug:
            raise VersionNotFound(f"The version {version} belongs to the problem '{package.slug}'.")
        return package

    async def publish(
        self,
        slug: str,
        version: str,
        *,
        user_id: str | None = None,
        validated: bool | None = None,
        forced: bool = False,
    ) -> None:
        """Publish this version, whatever the problems folder contains, and record who published it and how.

        Raises:
          PackageNotStored: it is missing, or belongs to another problem.
        """
        async with self._database.writing() as session:
            row = await session.get(PackageRow, version)
            if row is None or row.slug != slug:
                raise PackageNotStored(f"the database has no package of version {version[:64]!r} of {slug[:64]!r}")
            await _publish(session, slug, version, "upload", user_id=user_id, validated=validated, forced=forced)

    async def published(self, folder: Collection[str] | None = None) -> dict[str, str]:
        """The published version of each problem, sorted by slug.

        Args:
          folder: of the versions from a problems folder, return only these slugs; None for all. A server passes the
            slugs of its own folder: other servers may have others, and a problem that the operator removed is no
            longer served.
        """
        query = select(PublishedRow.slug, PublishedRow.version, PublishedRow.origin).order_by(PublishedRow.slug)
        async with self._database.reading() as session:
            rows = (await session.execute(query)).all()
        served = [row for row in rows if folder is None or row.origin == "upload" or row.slug in folder]
        return {row.slug: row.version for row in served}

    async def private_versions(self) -> set[str]:
        """The versions that only members of a course see."""
        async with self._database.reading() as session:
            return set(await session.scalars(select(CourseProblemRow.version)))

    async def is_unpublished(self, slug: str, version: str) -> bool:
        """Whether this version is stored here, and there was no time at which everyone saw it."""
        row = PublicationRow
        published = select(row.id).where(row.problem == slug, row.version == version).exists()
        query = select(PackageRow.version).where(PackageRow.version == version, ~published)
        async with self._database.reading() as session:
            return await session.scalar(query) is not None

    async def latest(self, slug: str) -> str | None:
        """The version of a problem that was uploaded last."""
        row = PackageRow
        query = select(row.version).where(row.slug == slug).order_by(row.created_at.desc(), row.version).limit(1)
        async with self._database.reading() as session:
            return await session.scalar(query)

    async def count_from_folders(self) -> int:
        """How many problems are published from a server's problems folder."""
        query = select(func.count()).select_from(PublishedRow).where(PublishedRow.origin == "folder")
        async with self._database.reading() as session:
            return await session.scalar(query) or 0

    async def publish_folder(self, packages: list[Package]) -> None:
        """Store and publish the packages of the problems folder. Versions that an instructor published stay, and so do
        problems that are not in this folder, because another server may serve them.
        """
        async with self._database.writing() as session:
            for package in packages:
                await _add(session, package)
                row = await session.get(PublishedRow, package.slug)
                if row is None or (row.origin == "folder" and row.version != package.version):
                    await _publish(session, package.slug, package.version, "folder")


async def _add(session: AsyncSession, package: Package) -> bool:
    row = {"version": package.version, "slug": package.slug, "files": package.files, "created_at": now()}
    insert = insert_into(session, PackageRow).values(row).on_conflict_do_nothing()
    # Not by the number of rows, which PostgreSQL's driver does not report for an INSERT.
    is_new = await session.scalar(insert.returning(PackageRow.version)) is not None
    known = package.known
    if known is None and is_new:
        # Fingerprints of what this version left as it was still hold, and no others are used.
        latest = select(PackageRow).where(PackageRow.slug == package.slug, PackageRow.known.is_not(None))
        earlier = await session.scalar(latest.order_by(PackageRow.created_at.desc()).limit(1))
        known = _known_of(earlier) if earlier is not None else None
    if known is not None or package.pictures is not None:
        await _put_computed(session, package.version, known, package.pictures)
    return is_new


async def _put_computed(
    session: AsyncSession, version: str, known: KnownFingerprints | None, pictures: Pictures | None
) -> None:
    """Store what is given and differs, if the version is still there."""
    row = await session.get(PackageRow, version, with_for_update=True)
    if row is None:
        return
    if known is not None and row.known != (stored := known.model_dump(exclude_defaults=True)):
        row.known, row.explained = stored, False
    if pictures is not None and row.pictures != (drawn := pictures.model_dump(mode="json", exclude_defaults=True)):
        row.pictures = drawn


def _has_more_than(package: Package) -> Select[int]:
    """Counts the row if it has something computed that this package lacks."""
    missing = [
        column.is_not(None)
        for column, value in ((PackageRow.known, package.known), (PackageRow.pictures, package.pictures))
        if value is None
    ]
    return select(func.count()).where(PackageRow.version == package.version, or_(*missing))


def _pictures_of(row: PackageRow) -> Pictures | None:
    """None also for those that a release with another form of pictures stored, until they are made again."""
    if row.pictures is None:
        return None
    try:
        return Pictures.model_validate(row.pictures)
    except ValidationError:
        return None


def _known_of(row: PackageRow) -> KnownFingerprints | None:
    return None if row.known is None else KnownFingerprints.model_validate(row.known)


async def _publish(
    session: AsyncSession,
    slug: str,
    version: str,
    origin: Origin,
    *,
    user_id: str | None = None,
    validated: bool | None = None,
    forced: bool = False,
) -> None:
    changed = {"version": version, "origin": origin, "published_at": now()}
    # Attempts that other versions graded meanwhile are compared with its mistakes.
    await session.execute(update(PackageRow).where(PackageRow.version == version).values(explained=False))
    insert = insert_into(session, PublishedRow).values(slug=slug, **changed)
    await session.execute(insert.on_conflict_do_update(index_elements=["slug"], set_=changed))
    session.add(
        PublicationRow(id=new_id(), problem=slug, user_id=user_id, validated=validated, forced=forced, **changed)
    )
