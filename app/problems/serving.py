"""Keeps what a server serves at what is published, by itself or by another server on the same database."""

import asyncio
import logging
from uuid import UUID

from app.errors import PackageNotStored
from app.problems.service import Catalogue
from app.problems.store import PackageStore

log = logging.getLogger(__name__)
_LOOK_S = 2.0


class Serving:
    """Belongs to one event loop. Serves what an instructor published, and the problems of this server's own folder."""

    def __init__(self, catalogue: Catalogue, store: PackageStore) -> None:
        self._catalogue = catalogue
        self._store = store
        self._folder = frozenset(package.slug for package in catalogue.all())
        # One at a time: a slower look, begun before a version was published, would put the one before it back.
        self._turn = asyncio.Lock()

    def uuids(self) -> dict[str, UUID]:
        """The uuid of each problem that is served, by slug."""
        return {package.slug: package.manifest.uuid for package in self._catalogue.all()}

    async def refresh(self) -> None:
        """Serve what is published by now. A version that is damaged is logged, and the one before it stays."""
        async with self._turn:
            for slug, version in (await self._store.published(self._folder)).items():
                if version == self._catalogue.version_of(slug):
                    continue
                try:
                    self._catalogue.serve(await self._store.get(version))
                except PackageNotStored as error:
                    log.error("%s is not served anew: %s", slug, error)

    async def run(self) -> None:
        """Look every two seconds, until it is cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            try:
                await self.refresh()
            except Exception:  # a database that is away for a while must not end this
                log.exception("looking for published versions stumbled")
