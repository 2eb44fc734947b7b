"""Keeps a server's catalogue up to date with what it, or another server on the same database, publishes."""

import asyncio
import logging
from uuid import UUID

from app.core.background_loop import Loop
from app.core.errors import PackageNotStored
from app.problems.catalogue import Catalogue
from app.problems.package_store import PackageStore

log = logging.getLogger(__name__)


class CatalogueRefresh:
    """Belongs to one event loop. Serves what instructors published, and the problems in this server's folder."""

    def __init__(self, catalogue: Catalogue, store: PackageStore) -> None:
        self.loop = Loop("looking for published versions", self.refresh)
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
                if version == self._catalogue.version_of(slug):
                    continue
                try:
                    self._catalogue.serve(await self._store.get(version))
                except PackageNotStored as error:
                    log.error("the new version of %s cannot be served: %s", slug, error)
