"""The packages in a tree of files, whether it comes from git or from a folder. Nothing here reads the files themselves.

Names need no further check, as for a zip: the package reader knows every file that a package may contain.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from app.authoring.package_zip import LONGEST_NAME, MAX_FILES, MAX_TEXT_BYTES, decoded, too_many_bytes, too_many_files
from app.authoring.repositories.errors import SyncFailed
from app.core.errors import PackageRefused
from grader.package.fault import PackageFault
from grader.review.reader import MAX_FILE_BYTES

MAX_ENTRIES = 20_000
MAX_PACKAGES = 200
_MANIFEST = "problem.toml"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree. `key` is what it is read by. `is_plain` is False for links, submodules and devices."""

    path: str
    is_plain: bool
    size: int
    key: str


@dataclass(frozen=True, slots=True)
class FoundPackage:
    """A folder with a manifest. With `faults`, it is not a package, and `files` is incomplete."""

    folder: str
    files: dict[str, str]
    faults: tuple[PackageFault, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The packages of a repository. `commit` is None for a folder."""

    commit: str | None
    packages: tuple[FoundPackage, ...]


def packages_in(
    entries: Iterable[Entry], read: Callable[[list[Entry]], Mapping[str, bytes]]
) -> tuple[FoundPackage, ...]:
    """Every topmost folder with a manifest, as a package.

    Args:
      read: the contents of files by their paths. It is called once for each package that keeps the bounds.
    Raises:
      SyncFailed: there are none, or too many.
    """
    entries = list(entries)
    if len(entries) > MAX_ENTRIES:
        raise SyncFailed(f"It has over {MAX_ENTRIES} files. Name the folder that contains the packages.")
    manifests = {str(PurePosixPath(each.path).parent) for each in entries if _name(each.path) == _MANIFEST}
    roots = {each for each in manifests if not any(_contains(other, each) for other in manifests if other != each)}
    if not roots:
        raise SyncFailed("No folder in it contains a problem.toml. Check the branch and the folder.")
    if len(roots) > MAX_PACKAGES:
        raise SyncFailed(f"It has {len(roots)} packages, but at most {MAX_PACKAGES} are synced.")
    of_each: dict[str, list[Entry]] = {each: [] for each in sorted(roots)}
    for entry in entries:
        if "__pycache__" in entry.path.split("/"):
            continue
        if (root := next((each for each in _parents(entry.path) if each in roots), None)) is not None:
            of_each[root].append(entry)
    return tuple(_package(root, found, read) for root, found in of_each.items())


def _package(root: str, entries: list[Entry], read: Callable[[list[Entry]], Mapping[str, bytes]]) -> FoundPackage:
    if faults := _faults(entries):
        return FoundPackage(root, {}, tuple(faults))
    within = {path if root == "." else path.removeprefix(f"{root}/"): data for path, data in read(entries).items()}
    try:
        return FoundPackage(root, decoded(within), ())
    except PackageRefused as refusal:
        return FoundPackage(root, {}, tuple(refusal.faults))


def _faults(entries: list[Entry]) -> list[PackageFault]:
    if len(entries) > MAX_FILES:
        return [too_many_files(len(entries))]
    faults = []
    for each in entries:
        name = each.path[:LONGEST_NAME]
        if len(each.path) > LONGEST_NAME:
            message = f"the name {name!r} is too long"
        elif not each.is_plain:
            message = f"{name} is not a plain file: links, submodules and devices are not followed"
        elif each.size > MAX_FILE_BYTES:
            message = f"{name} is over {MAX_FILE_BYTES >> 20} MiB"
        else:
            continue
        faults.append(PackageFault("unreadable-file", name, None, message))
    total = sum(each.size for each in entries)
    if total > MAX_TEXT_BYTES and not faults:
        faults.append(too_many_bytes(total))
    return faults


def _parents(path: str) -> list[str]:
    return [str(each) for each in PurePosixPath(path).parents]


def _contains(outer: str, inner: str) -> bool:
    return outer == "." or inner.startswith(f"{outer}/")


def _name(path: str) -> str:
    return path.rpartition("/")[2]
