"""Run a command where every user can enter the folders on the way to some paths, and nothing else changes.

Usage, by root: unshare --mount python -m tests.hostile.open_folders STASH PATH ... -- COMMAND ...

A checkout or a Python may be in a folder that only root can enter, such as one of `mktemp -d`. In the mount namespace
of this process, an empty folder takes the place of each such folder, and the paths appear in it again.
"""

import os
import stat
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


def main() -> None:
    stash, *others = sys.argv[1:]
    end = others.index("--")
    open_folders(Path(stash), [Path(each) for each in others[:end]])
    os.execvp(others[end + 1], others[end + 1 :])


def open_folders(stash: Path, paths: Iterable[Path]) -> None:
    """Open the folders on the way to these paths. Raises `subprocess.CalledProcessError` if a mount fails."""
    closed = {path: folder for path in paths if (folder := _first_closed(path))}
    for number, path in enumerate(closed):
        kept = stash / str(number)
        kept.mkdir()
        _mount("--rbind", str(path), str(kept))
    for folder in set(closed.values()):
        _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", str(folder))
    for number, path in enumerate(closed):
        path.mkdir(parents=True, exist_ok=True)
        _mount("--rbind", str(stash / str(number)), str(path))


def _first_closed(path: Path) -> Path | None:
    """The first folder, from the root on, that not everybody can enter."""
    folders = [*reversed(path.parents), path]
    return next((each for each in folders if not each.stat().st_mode & stat.S_IXOTH), None)


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    main()
