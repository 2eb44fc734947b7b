"""The problems that this service serves."""

import difflib
import logging
from pathlib import Path

from app.errors import ProblemNotFound
from grader.errors import PackageInvalid
from grader.package.ceiling import Ceiling
from grader.package.names import shared_uuids, unknown_prerequisites
from grader.package.package import Package
from grader.package.reader import read_package

log = logging.getLogger(__name__)


class Catalogue:
    """Packages by slug, in the order of their slugs, which are those of their folders. `faults` were left out."""

    def __init__(self, packages: list[Package], faults: list[PackageInvalid] | None = None) -> None:
        self._by_slug = {package.slug: package for package in packages}
        self.faults = faults or []

    @classmethod
    def load(cls, folder: Path, ceiling: Ceiling | None = None) -> "Catalogue":
        """Read every package below `folder`. One that breaks its contract is left out, the rest are served.

        Args:
          ceiling: the most that their limits may be.
        """
        packages: list[Package] = []
        faults: list[PackageInvalid] = []
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
        return cls(packages, faults)

    def unknown_prerequisites(self) -> list[str]:
        """One message for each prerequisite that is not served. Its problem is: a student can still solve it."""
        return [
            f"{package.slug}: {fault}"
            for package in self._by_slug.values()
            for fault in unknown_prerequisites(package.manifest, self._by_slug)
        ]

    def serve(self, package: Package) -> None:
        """From now on, in place of the version of this problem that was served until now."""
        self._by_slug = dict(sorted((self._by_slug | {package.slug: package}).items()))

    def version_of(self, slug: str) -> str | None:
        package = self._by_slug.get(slug)
        return package.version if package else None

    def all(self) -> list[Package]:
        return list(self._by_slug.values())

    def get(self, slug: str) -> Package:
        """Raises `ProblemNotFound`, with the slug that was perhaps meant."""
        if package := self._by_slug.get(slug):
            return package
        asked = slug[:64]
        close = difflib.get_close_matches(asked.lower().replace("-", "_"), self._by_slug, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ProblemNotFound(f"There is no problem {asked!r}.{hint}", suggestion=close[0] if close else None)
