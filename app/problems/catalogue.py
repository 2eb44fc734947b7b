"""The published problems of this service."""

import difflib
import logging
from collections.abc import Sequence
from pathlib import Path

from app.core.errors import ProblemNotFound
from app.problems.tracks import Section, Track, TracksInvalid, arrange, read_tracks, unknown_problems
from grader.package.ceiling import Ceiling
from grader.package.fault import PackageInvalid
from grader.package.package import Package
from grader.review.names import shared_uuids, unknown_prerequisites
from grader.review.reader import read_package

log = logging.getLogger(__name__)


class Catalogue:
    """Packages by slug, in the order of their slugs, which are also their folders' names. `faults` were left out.

    `tracks` is the order in which problems are shown.
    """

    def __init__(
        self,
        packages: list[Package],
        faults: Sequence[PackageInvalid | TracksInvalid] = (),
        tracks: Sequence[Track] = (),
    ) -> None:
        self._by_slug = {package.slug: package for package in packages}
        self._tracks = tuple(tracks)
        self._sections: tuple[Section, ...] | None = None
        self.faults = list(faults)

    @classmethod
    def load(cls, folder: Path, ceiling: Ceiling | None = None) -> "Catalogue":
        """Read every package in `folder`, and their order. Invalid ones are left out.

        Args:
          ceiling: the upper bounds for their limits.
        """
        packages: list[Package] = []
        faults: list[PackageInvalid | TracksInvalid] = []
        folders = sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []
        for each in folders:
            if each.name.startswith((".", "_")):
                continue
            try:
                package = read_package(each, ceiling)
            except PackageInvalid as fault:
                faults.append(fault)
                continue
            if shared := shared_uuids(package.manifest, {other.slug: other.manifest.uuid for other in packages}):
                faults.append(PackageInvalid(str(each), shared))
            else:
                packages.append(package)
        tracks: tuple[Track, ...] = ()
        try:
            tracks = read_tracks(folder)
        except TracksInvalid as fault:
            faults.append(fault)
        return cls(packages, faults, tracks)

    def unknown_prerequisites(self) -> list[str]:
        """One message per prerequisite that is not published.

        The problem itself is published, because it can be solved.
        """
        return [
            f"{package.slug}: {fault}"
            for package in self._by_slug.values()
            for fault in unknown_prerequisites(package.manifest, self._by_slug)
        ]

    def unknown_in_tracks(self) -> list[str]:
        """One message for each problem that a track names and that is not served."""
        return unknown_problems(self._tracks, self._by_slug)

    def sections(self) -> tuple[Section, ...]:
        """All packages as they are shown: by track, in the recommended order."""
        if self._sections is None:
            self._sections = arrange(self.all(), self._tracks)
        return self._sections

    def section_of(self, slug: str) -> Section | None:
        """The track of a problem; None if it is not served."""
        return next((each for each in self.sections() if any(slug == other.slug for other in each.packages)), None)

    def serve(self, package: Package) -> None:
        """Serve this version of its problem from now on."""
        self._sections = None
        self._by_slug = dict(sorted((self._by_slug | {package.slug: package}).items()))

    def version_of(self, slug: str) -> str | None:
        package = self._by_slug.get(slug)
        return package.version if package else None

    def all(self) -> list[Package]:
        return list(self._by_slug.values())

    def find(self, text: str) -> Package | None:
        """The problem with this slug or title, or the only one of which it is a part; None if there is no such one."""
        sought = text.strip().lower()
        names = {each.slug: each.manifest.title.lower() for each in self.all()}
        exact = [slug for slug, title in names.items() if sought in (slug, title)]
        parts = [slug for slug, title in names.items() if sought in slug or sought in title]
        found = exact or parts
        return self._by_slug[found[0]] if sought and len(found) == 1 else None

    def get(self, slug: str) -> Package:
        """Raises `ProblemNotFound`, with a suggested slug if one is similar."""
        if package := self._by_slug.get(slug):
            return package
        shown = slug[:64]
        close = difflib.get_close_matches(shown.lower().replace("-", "_"), self._by_slug, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ProblemNotFound(f"There is no problem {shown!r}.{hint}", suggestion=close[0] if close else None)
