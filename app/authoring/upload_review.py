"""Reads uploaded packages in a process with limits, because anybody may have written their code and texts."""

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from typing import Any
from uuid import UUID

from app.core.bounded_calls import LimitExceeded, bounded
from grader.package.ceiling import Ceiling
from grader.package.fault import MANIFEST_FILE, PackageFault, PackageInvalid
from grader.review.reader import package_of
from grader.review.rules import review_files

_CPU_S = 10


@dataclass(frozen=True, slots=True)
class FilesReview:
    """`identity` is slug, version and uuid of the package; None if it cannot be read."""

    identity: tuple[str, str, UUID] | None
    faults: tuple[PackageFault, ...]


async def faults_of(files: Mapping[str, str], ceiling: Ceiling | None) -> list[PackageFault]:
    """What is wrong with a package. See `package_of`."""
    try:
        found = await bounded(_faults, files, _limits(ceiling), cpu_s=_CPU_S)
    except LimitExceeded as exceeded:
        return [_too_complex(files, exceeded)]
    return [PackageFault(*each) for each in found]


async def review_in_bounds(
    files: Mapping[str, str], ceiling: Ceiling | None = None, others: Mapping[str, UUID] | None = None
) -> FilesReview:
    """Apply every rule that needs no judge. See `review_files`."""
    named = None if others is None else {slug: str(uuid) for slug, uuid in others.items()}
    try:
        found = await bounded(_review, files, _limits(ceiling), named, cpu_s=_CPU_S)
    except LimitExceeded as exceeded:
        return FilesReview(None, (_too_complex(files, exceeded),))
    identity = found["identity"] and (*found["identity"][:2], UUID(found["identity"][2]))
    return FilesReview(identity, tuple(PackageFault(*each) for each in found["faults"]))


def _limits(ceiling: Ceiling | None) -> dict[str, Any] | None:
    return None if ceiling is None else asdict(ceiling)


def _too_complex(files: Mapping[str, str], exceeded: LimitExceeded) -> PackageFault:
    largest = max(files, key=lambda name: len(files[name]), default=MANIFEST_FILE)
    message = f"the package {exceeded} to read: make {largest}, its largest file, simpler or shorter"
    return PackageFault("unreadable-file", largest, None, message)


def _faults(files: dict[str, str], ceiling: dict[str, Any] | None) -> list[tuple[Any, ...]]:
    try:
        package_of(None, files, None if ceiling is None else Ceiling(**ceiling))
    except PackageInvalid as invalid:
        return [astuple(each) for each in invalid.faults]
    return []


def _review(files: dict[str, str], ceiling: dict[str, Any] | None, others: dict[str, str] | None) -> dict[str, Any]:
    known = None if others is None else {slug: UUID(uuid) for slug, uuid in others.items()}
    review = review_files(None, files, (), None if ceiling is None else Ceiling(**ceiling), known)
    package = review.package
    return {
        "identity": package and (package.slug, package.version, str(package.manifest.uuid)),
        "faults": [astuple(each) for each in review.faults],
    }
