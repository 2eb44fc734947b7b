"""Reads the packages in a folder of the server that the operator permits. Links are never followed."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from app.authoring.repositories.errors import RepositoryRefused, SyncFailed
from app.authoring.repositories.tree import MAX_ENTRIES, Entry, Snapshot, packages_in
from grader.review.reader import MAX_FILE_BYTES

# A package may be a few folders below the registered one. A tree of mounts may have no end.
_DEEPEST = 12


def check_folder(path: str, permitted: Sequence[Path]) -> Path:
    """The real path of a folder inside one that the operator permits.

    Raises:
      RepositoryRefused: it is not inside one, or is not a folder. Which of them is not said for any other path.
    """
    if not permitted:
        raise RepositoryRefused("This server permits no folders. An operator can set MESHGRADE_SYNC_FOLDERS.")
    if "\0" in path or not os.path.isabs(path):
        raise RepositoryRefused(f"The folder must be an absolute path. Got {path[:80]!r}.")
    real = Path(os.path.realpath(path))
    allowed = [Path(os.path.realpath(each)) for each in permitted]
    if not any(real == each or each in real.parents for each in allowed):
        names = ", ".join(str(each) for each in permitted)
        raise RepositoryRefused(f"{path[:200]!r} is not inside a folder that the operator permits: {names}.")
    if not os.path.isdir(real):
        raise RepositoryRefused(f"{path[:200]!r} is not a folder on the server.")
    return real


def read_folder(path: str, permitted: Sequence[Path]) -> Snapshot:
    """The packages in a folder.

    Raises:
      SyncFailed: it is no longer permitted, cannot be read, or has no packages.
    """
    try:
        root = check_folder(path, permitted)
        return Snapshot(None, packages_in(_entries(root), lambda entries: _contents(root, entries)))
    except RepositoryRefused as refusal:
        raise SyncFailed(str(refusal)) from None
    except OSError as error:
        raise SyncFailed(f"The folder cannot be read: {error.strerror}.") from None


def _entries(root: Path) -> list[Entry]:
    entries: list[Entry] = []
    for folder, folders, names, opened in os.fwalk(root, follow_symlinks=False):
        within = Path(folder).relative_to(root)
        # A link to a folder is listed among the folders. No package may have one, so it is reported like a file.
        links = [each for each in folders if stat.S_ISLNK(os.lstat(each, dir_fd=opened).st_mode)]
        folders[:] = [each for each in folders if each not in links and each not in (".git", "__pycache__")]
        if len(within.parts) >= _DEEPEST:
            folders.clear()
        for name in [*names, *links]:
            found = os.lstat(name, dir_fd=opened)
            path = (within / name).as_posix().encode("utf-8", "replace").decode()
            entries.append(Entry(path, stat.S_ISREG(found.st_mode), found.st_size, str(within / name)))
        if len(entries) > MAX_ENTRIES:
            break
    return entries


def _contents(root: Path, entries: list[Entry]) -> dict[str, bytes]:
    return {each.path: _read(root, each.key) for each in entries}


def _read(root: Path, key: str) -> bytes:
    """A file, opened part by part, so that no folder on the way can be a link that appeared since."""
    *folders, name = Path(key).parts
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for each in folders:
            below = os.open(each, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at), "rb") as file:
            return file.read(MAX_FILE_BYTES)
    finally:
        os.close(at)
