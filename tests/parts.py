"""What one run in eight does: a whole run takes one part of eight, another one for each commit, and `--all` takes all.

`./meshgrade test` chooses the part and names it in MESHGRADE_TEST_PART: `3/8`, or `all`. What is slow and done for each
of many packages, lessons or pages is done for an eighth of them (`chosen`): judging the submissions that ship with the
problems, measuring the numbers of texts again, following the documentation. What the last commit or the working tree
changed is in every part. A test marked `part(3)` runs in the third part alone: it shows that a benchmark works,
which takes half a minute and seldom changes. `part(3, "app/")` runs as well where a file of app/ changed.
"""

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

EVERY = "all"
PART = os.environ.get("MESHGRADE_TEST_PART") or "1/8"
_CHECKOUT = Path(__file__).resolve().parents[1]


def part_of(names: list[str], part: str) -> list[str]:
    """Those of a part: the names dealt out in turn, so that each is in one part and a problem is in most."""
    if part == EVERY:
        return names
    number, parts = map(int, part.split("/"))
    return names[number - 1 :: parts]


def chosen(names: list[str], files: Callable[[str], tuple[str, ...]], shared: tuple[str, ...] = ()) -> list[str]:
    """Those of this run's part, and those whose files changed.

    Args:
      names: all there are; their order decides the parts.
      files: gives how the paths of a name's files begin.
      shared: how the paths begin of files that all of them depend on. If one of these changed, all are chosen.
    """
    return _chosen(names, files, shared, PART, changed())


def _chosen(
    names: list[str],
    files: Callable[[str], tuple[str, ...]],
    shared: tuple[str, ...],
    part: str,
    paths: frozenset[str],
) -> list[str]:
    if any(path.startswith(shared) for path in paths):
        return names
    dealt = set(part_of(names, part))
    return [name for name in names if name in dealt or any(path.startswith(files(name)) for path in paths)]


@cache
def changed() -> frozenset[str]:
    """The files that differ from the last commit's parent; none if Git does not know it, as in a download."""
    found: list[str] = []
    for command in (("diff", "--name-only", "HEAD~1"), ("ls-files", "--others", "--exclude-standard")):
        done = subprocess.run(["git", *command], cwd=_CHECKOUT, capture_output=True, text=True, check=False)
        found += done.stdout.splitlines() if done.returncode == 0 else []
    return frozenset(found)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "part(number, *paths): run in one part of eight, or if one of these changed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if not _is_chosen(item, PART)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_chosen(item, PART)]


def _is_chosen(item: pytest.Item, part: str) -> bool:
    mark = item.get_closest_marker("part")
    if mark is None:
        return True
    number, *paths = mark.args
    return part in (EVERY, f"{number}/8") or any(path.startswith(tuple(paths)) for path in changed())
