"""Keeps a process's catalogue up to date with what it, or another one on the same database, publishes."""

import asyncio
import logging
from uuid import UUID

from app.core.background_loop import Loop
from app.core.errors import PackageNotStored
from app.core.neighbours import Neighbours
from app.problems.catalogue import Catalogue
from app.problems.package_store import PackageStore
from grader.package.package import Package

log = logging.getLogger(__name__)
_TOPIC = "something was published"


class CatalogueRefresh:
    """Belongs to one event loop. Serves what instructors published or gave to a course, and the problems in this
    server's folder.
    """

    def __init__(self, catalogue: Catalogue, store: PackageStore, neighbours: Neighbours | None = None) -> None:
        self.loops = [
            # A server on another machine can publish a version, and nothing tells this one.
            Loop("looking for published versions", self._serve_published, idle_pause_s=10.0),
            Loop("serving what a neighbour has published", self._follow),
        ]
        self._neighbours = neighbours or Neighbours()
        self._neighbours.on(_TOPIC, lambda _: self._news.set())
        self._news = asyncio.Event()
        self._catalogue = catalogue
        self._store = store
        self._folder = frozenset(package.slug for package in catalogue.all())
        # One at a time: a slower refresh that began before a version was published would bring back the previous one.
        self._turn = asyncio.Lock()

    def uuids(self) -> dict[str, UUID]:
        """The uuid of each published problem, by slug."""
        return {package.slug: package.manifest.uuid for package in self._catalogue.all()}

    async def refresh(self) -> None:
        """Serve what is published now, here and in the neighbours, after this process has published something.

        If a version is damaged, that is logged and the previous one stays.
        """
        await self._serve_published()
        self._neighbours.send(_TOPIC)

    async def _follow(self) -> bool:
        await self._news.wait()
        self._news.clear()
        await self._serve_published()
        return True

    async def _serve_published(self) -> None:
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
