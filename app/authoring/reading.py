"""Reads packages that someone sent, by a process with a limit: their Python, TOML, drawings and texts are anybody's."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from app.bounded import LimitExceeded, bounded
from grader.errors import PackageInvalid
from grader.package.ceiling import Ceiling
from grader.package.reader import package_of
from grader.package.rules import Finding, examine_files

_CPU_S = 10


@dataclass(frozen=True, slots=True)
class ExaminedFiles:
    """`identity` is slug, version and uuid of the package; None if it cannot be read."""

    identity: tuple[str, str, UUID] | None
    findings: tuple[Finding, ...]


async def faults_of(files: Mapping[str, str], ceiling: Ceiling | None) -> list[str]:
    """What is wrong with a package, one message each. See `package_of`."""
    try:
        found: list[str] = await bounded(_faults, files, _limits(ceiling), cpu_s=_CPU_S)
    except LimitExceeded as exceeded:
        return [_too_complex(files, exceeded)]
    return found


async def examine(
    files: Mapping[str, str], ceiling: Ceiling | None = None, others: Mapping[str, UUID] | None = None
) -> ExaminedFiles:
    """Apply every rule that needs no judge. See `examine_files`."""
    named = None if others is None else {slug: str(uuid) for slug, uuid in others.items()}
    try:
        found = await bounded(_examine, files, _limits(ceiling), named, cpu_s=_CPU_S)
    except LimitExceeded as exceeded:
        return ExaminedFiles(None, (Finding("unreadable-file", _largest(files), None, _too_complex(files, exceeded)),))
    identity = found["identity"] and (*found["identity"][:2], UUID(found["identity"][2]))
    return ExaminedFiles(identity, tuple(Finding(*each) for each in found["findings"]))


def _limits(ceiling: Ceiling | None) -> dict[str, Any] | None:
    return None if ceiling is None else asdict(ceiling)


def _largest(files: Mapping[str, str]) -> str:
    return max(files, key=lambda name: len(files[name]), default="problem.toml")


def _too_complex(files: Mapping[str, str], exceeded: LimitExceeded) -> str:
    return f"{_largest(files)}, the largest file of a package that {exceeded} to read, must be simpler or shorter"


def _faults(files: dict[str, str], ceiling: dict[str, Any] | None) -> list[str]:
    try:
        package_of(None, files, None if ceiling is None else Ceiling(**ceiling))
    except PackageInvalid as invalid:
        return invalid.faults
    return []


def _examine(files: dict[str, str], ceiling: dict[str, Any] | None, others: dict[str, str] | None) -> dict[str, Any]:
    known = None if others is None else {slug: UUID(uuid) for slug, uuid in others.items()}
    examined = examine_files(None, files, (), None if ceiling is None else Ceiling(**ceiling), known)
    package = examined.package
    return {
        "identity": package and (package.slug, package.version, str(package.manifest.uuid)),
        "findings": [(each.rule, each.file, each.line, each.message) for each in examined.findings],
    }
