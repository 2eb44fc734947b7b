"""Keeps a server's catalogue up to date with what it, or another server on the same database, publishes."""

import asyncio
import logging
from uuid import UUID

from app.core.background_loop import Loop
from app.core.errors import PackageNotStored
from app.problems.catalogue import Catalogue
from app.problems.package_store import PackageStore
from grader.package.package import Package

log = logging.getLogger(__name__)


class CatalogueRefresh:
    """Belongs to one event loop. Serves what instructors published or gave to a course, and the problems in this
    server's folder.
    """

    def __init__(self, catalogue: Catalogue, store: PackageStore) -> None:
        # Another server can publish a version, and nothing tells this one. What it publishes itself, it serves at once.
        self.loop = Loop("looking for published versions", self.refresh, idle_pause_s=10.0)
        self._catalogue = catalogue
        self._store = store
        self._folder = frozenset(package.slug for package in catalogue.all())
        # One at a time: a slower refresh that began before a version was published would bring back the previous one.
        self._turn = asyncio.Lock()

    def uuids(self) -> dict[str, UUID]:
        """The uuid of each published problem, by slug."""
        return {package.slug: package.manifest.uuid for package in self._catalogue.all()}

    async def refresh(self) -> None:
        """Serve what is published now. If a version is damaged, that is logged and the previous one stays."""
        async with self._turn:
            for slug, version in (await self._store.published(self._folder)).items():
                if version == self._catalogue.published_version(slug):
                    continue
                try:
                    self._catalogue.serve(await self._store.get(version))
                except PackageNotStored as error:
                    log.error("the new version of %s cannot be served: %s", slug, error)
            await self._refresh_private()

    async def _refresh_private(self) -> None:
        found: dict[str, Package] = {}
        for version in await self._store.private_versions():
            try:
                found[version] = self._catalogue.private_version(version) or await self._store.get(version)
            except PackageNotStored as error:
                log.error("the private version %s cannot be served: %s", version, error)
        self._catalogue.keep_private(found)
