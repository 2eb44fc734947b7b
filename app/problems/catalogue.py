"""The published problems of this service, and the private ones that the viewer of a request sees."""

import difflib
import logging
from collections.abc import Hashable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from app.core.errors import ProblemNotFound
from app.core.ids import new_id
from app.problems.tracks import PRIVATE, Section, Track, TracksInvalid, arrange, read_tracks, unknown_problems
from app.problems.variants import chosen_variant
from app.problems.viewer import viewer
from grader.package.ceiling import Ceiling
from grader.package.fault import PackageInvalid
from grader.package.package import Package
from grader.review.names import shared_uuids, unknown_prerequisites
from grader.review.reader import read_package

log = logging.getLogger(__name__)
# Courses whose members are using the service at a time, more or less.
_MOST_LISTED = 32
PRIVATE_TITLE = "Only in your courses"


class Catalogue:
    """Packages by slug, in the order of their slugs, which are also their folders' names. `faults` were left out.

    `tracks` is the order in which problems are shown. Each method reads what the viewer of the request sees: also the
    problems, and other versions of problems, that only members of a course see.
    """

    def __init__(
        self,
        packages: list[Package],
        faults: Sequence[PackageInvalid | TracksInvalid] = (),
        tracks: Sequence[Track] = (),
    ) -> None:
        self._published = {package.slug: package for package in packages}
        self._private: dict[str, Package] = {}
        self._tracks = tuple(tracks)
        self._sections: tuple[Section, ...] | None = None
        self._section_of: dict[str, Section] | None = None
        # With private problems, by what their viewers see: the same object for all who see the same.
        self._listed: dict[Hashable, tuple[Section, ...]] = {}
        # Another one whenever what is served changes.
        self._served = new_id()
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
            for package in self._published.values()
            for fault in unknown_prerequisites(package.manifest, self._published)
        ]

    def unknown_in_tracks(self) -> list[str]:
        """One message for each problem that a track names and that is not served."""
        return unknown_problems(self._tracks, self._published)

    @property
    def has_private(self) -> bool:
        return bool(self._private)

    @property
    def has_variants(self) -> bool:
        return any(each.variant for each in (*self._published.values(), *self._private.values()))

    def keep_private(self, packages: Mapping[str, Package]) -> None:
        """From now on, these are the private versions, by their hashes."""
        if packages.keys() != self._private.keys():
            self._served = new_id()
        self._private = dict(packages)

    def version(self, version: str) -> Package | None:
        """The published or private package with this hash; None if it is not served."""
        published = (each for each in self._published.values() if each.version == version)
        return self._private.get(version) or next(published, None)

    def private_version(self, version: str) -> Package | None:
        return self._private.get(version)

    def private(self, versions: Mapping[str, str], *, is_staff: bool) -> dict[str, Package]:
        """The packages of these private versions, by slug. Staff see the published version of a published problem."""
        found = {slug: self._private.get(version) for slug, version in versions.items()}
        return {slug: each for slug, each in found.items() if each and not (is_staff and slug in self._published)}

    @property
    def seen(self) -> Hashable:
        """Equal for two requests if their viewers see the same versions of the same problems."""
        return self._served, tuple(sorted((slug, each.version) for slug, each in viewer().private.items()))

    @property
    def _seen(self) -> Mapping[str, Package]:
        private = viewer().private
        return dict(sorted({**self._published, **private}.items())) if private else self._published

    def sections(self) -> tuple[Section, ...]:
        """The published problems as they are shown: by track, in the recommended order."""
        if private := viewer().private:
            return arrange([private.get(slug, each) for slug, each in self._published.items()], self._tracks)
        if self._sections is None:
            self._sections = arrange(list(self._published.values()), self._tracks)
        return self._sections

    def by_place(self) -> list[Package]:
        """The published problems: the first of each track, then the second of each, and so on."""
        rows = zip_longest(*(each.packages for each in self.sections()))
        return [package for row in rows for package in row if package is not None]

    def listed(self) -> tuple[Section, ...]:
        """The same, followed by the problems that are not published and that the viewer sees."""
        if not viewer().private:
            return self.sections()
        seen = self.seen
        if seen not in self._listed:
            own = tuple(each for slug, each in sorted(viewer().private.items()) if slug not in self._published)
            private = (Section(PRIVATE, PRIVATE_TITLE, "", own),) if own else ()
            if len(self._listed) >= _MOST_LISTED:
                self._listed.clear()
            self._listed[seen] = (*self.sections(), *private)
        return self._listed[seen]

    def section_of(self, slug: str) -> Section | None:
        """The track of a problem; None if it is not served."""
        if viewer().private:
            return next((each for each in self.listed() if any(slug == other.slug for other in each.packages)), None)
        if self._section_of is None:
            self._section_of = {package.slug: each for each in self.sections() for package in each.packages}
        return self._section_of.get(slug)

    def serve(self, package: Package) -> None:
        """Serve this version of its problem from now on."""
        self._sections, self._section_of, self._served = None, None, new_id()
        self._published = dict(sorted((self._published | {package.slug: package}).items()))

    def version_of(self, slug: str) -> str | None:
        package = self._seen.get(slug)
        return package.version if package else None

    def published_version(self, slug: str) -> str | None:
        package = self._published.get(slug)
        return package.version if package else None

    def all(self) -> list[Package]:
        return list(self._seen.values())

    def titles(self) -> dict[str, str]:
        """The title of each problem by its slug."""
        return {slug: package.manifest.title for slug, package in self._seen.items()}

    def title_of(self, slug: str) -> str:
        """The title of a problem; its slug if it is no longer served."""
        package = self._seen.get(slug)
        return package.manifest.title if package else slug

    def find(self, text: str) -> Package | None:
        """The problem with this slug or title, or the only one of which it is a part; None if there is no such one."""
        sought = text.strip().lower()
        names = {each.slug: each.manifest.title.lower() for each in self.all()}
        exact = [slug for slug, title in names.items() if sought in (slug, title)]
        parts = [slug for slug, title in names.items() if sought in slug or sought in title]
        found = exact or parts
        return self._seen[found[0]] if sought and len(found) == 1 else None

    def get(self, slug: str, variant: str | None = None) -> Package:
        """The problem in the viewer's variant, or in the one that an instructor names.

        Raises:
          ProblemNotFound: with a suggested slug if one is similar.
          VariantNotFound, RoleMissing: see `chosen_variant`.
        """
        seen = self._seen
        if package := seen.get(slug):
            if variant is not None:
                return chosen_variant(package, variant, is_staff=viewer().is_staff)
            return viewer().in_own_variant(package)
        shown = slug[:64]
        close = difflib.get_close_matches(shown.lower().replace("-", "_"), seen, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ProblemNotFound(f"There is no problem {shown!r}.{hint}", suggestion=close[0] if close else None)
