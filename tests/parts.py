"""Divide slow work among runs: each run takes one part of eight, which depends on the commit, and `--all` takes all.

`./meshgrade test` chooses the part and names it in MESHGRADE_TEST_PART: `3/8`, or `all`. What is slow and done for each
of many packages, lessons or pages is done for an eighth of them (`chosen`): judging the submissions that ship with the
problems, measuring the numbers of texts again, following the documentation. What the last commit or the working tree
changed is in every part. A test marked `part(3)` runs only in the third part: it shows that a benchmark works, which
takes half a minute and seldom changes. `part(3, "app/")` also runs if a file of app/ changed.

A test for both databases runs on one of them, and on the other in the next part. It runs on both if its package of the
service changed, or something that all packages share.

There are two ways to tell what changed. Work that takes minutes per package, lesson or page compares with the last
commit's parent (`changed_last`). Databases, attacks, references and the legs of CI compare with the newest commit that
is at least a day older, because commits land together and each must be covered (`changed`). MESHGRADE_TEST_BASE, the
last commit that was tested, replaces both.
"""

import os
import subprocess
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

EVERY = "all"
PARTS = 8
PART = os.environ.get("MESHGRADE_TEST_PART") or "1/8"
# A test with this parameter runs on the database that it names.
DATABASE = "migrated_url"
# What every test on a database depends on.
_DATABASES = (
    "app/core/database.py",
    "app/core/lease.py",
    "app/core/migrate.py",
    "app/core/postgresql_connections.py",
    "app/core/sqlite_connections.py",
    "migrations/",
    "tests/app/conftest.py",
    "uv.lock",
)
_DAY_S = 24 * 60 * 60
_TESTS = Path(__file__).resolve().parent
_CHECKOUT = _TESTS.parent


def part_of(names: list[str], part: str) -> list[str]:
    """The names of one part. They are dealt out in turn, so that each is in one part and a problem's are in most."""
    if part == EVERY:
        return names
    number, parts = map(int, part.split("/"))
    return names[number - 1 :: parts]


@cache
def changed() -> frozenset[str]:
    """The files that differ from the base of this run; none if there is no base."""
    return _differ_from(base())


@cache
def changed_last() -> frozenset[str]:
    """The files that the last commit or the working tree changed; none without Git's history."""
    return _differ_from(os.environ.get("MESHGRADE_TEST_BASE") or "HEAD~1")


def chosen(
    names: list[str],
    files: Callable[[str], tuple[str, ...]],
    shared: tuple[str, ...] = (),
    since: Callable[[], frozenset[str]] = changed_last,
    *,
    is_due: bool = True,
) -> list[str]:
    """Choose the names of this run's part, and those whose files changed.

    Args:
      names: all names; their order decides the parts.
      files: returns the path prefixes of a name's files.
      shared: path prefixes of files that all names depend on. If one of these changed, all are chosen.
      since: returns what changed. Use `changed` for work that is quick enough to do for each commit of a day.
      is_due: false if what the names have in common is unchanged since the base (tests/unchanged.py). Then only those
        whose files changed since the base are chosen, unless these are more than a part.
    """
    if since is changed and base() is None:
        return names
    if not is_due:
        altered = [name for name in names if any(path.startswith(files(name)) for path in changed())]
        if not exceeds_a_part(altered, names):
            return altered
    return _chosen(names, files, shared, PART, since())


def exceeds_a_part(altered: list[str], names: list[str]) -> bool:
    """Whether so many items changed within a day that they take turns as well. A base that was set is exact."""
    return not os.environ.get("MESHGRADE_TEST_BASE") and len(altered) > max(1, len(names) // PARTS)


def parameters(values: list[Any]) -> list[Any]:
    """The values of a parameter. If a run leaves all of them out, pytest gets one that tests/unchanged.py deselects."""
    return values or [pytest.param(None, id="left out", marks=pytest.mark.left_out)]


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
def base() -> str | None:
    """The commit to compare with; None if Git does not have it, as in a download or a shallow clone."""
    commit = os.environ.get("MESHGRADE_TEST_BASE")
    if not commit:
        made_at = _git("log", "-1", "--format=%ct", "HEAD")
        commit = made_at and _git("rev-list", "-1", f"--min-age={int(made_at) - _DAY_S}", "HEAD")
    return (commit and _git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")) or None


def added_lines(folder: str) -> Iterator[tuple[str, str]]:
    """The lines of a folder's files that the base does not have, each after its file's path."""
    path = ""
    for line in _git("diff", "--unified=0", "--no-prefix", f"{base()}", "--", folder).split("\n"):
        if line.startswith("+++ "):
            path = line.removeprefix("+++ ")
        elif line.startswith("+"):
            yield path, line[1:]


def _differ_from(commit: str | None) -> frozenset[str]:
    if commit is None:
        return frozenset()
    new = _git("ls-files", "--others", "--exclude-standard")
    return frozenset(f"{_git('diff', '--name-only', commit)}\n{new}".split("\n")) - {""}


def _git(*command: str) -> str:
    """What Git prints; empty if it fails or is not installed."""
    try:
        done = subprocess.run(["git", *command], cwd=_CHECKOUT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def part_of_day(day: datetime) -> int:
    """Each part in turn, one per day."""
    return day.toordinal() % PARTS + 1


def part_of_commit() -> int:
    """By the commit that is checked out, so that its tests can be repeated; by day if Git does not know it."""
    commit = _git("rev-parse", "HEAD")
    return int(commit, 16) % PARTS + 1 if commit else part_of_day(datetime.now(UTC))


def turn_of_commit() -> int:
    """Which work runs for this commit even if nothing changed: 1 to 8. It does not depend on the part, so that in time
    each part of each kind of work has its turn.
    """
    return int(_git("rev-parse", "HEAD") or "0", 16) // PARTS % PARTS + 1


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "part(number, *paths): run in one part of eight, or if one of these changed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if not _is_chosen(item, PART)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_chosen(item, PART)]


def _is_chosen(item: pytest.Item, part: str) -> bool:
    if not _has_its_database(item, part):
        return False
    mark = item.get_closest_marker("part")
    if mark is None:
        return True
    number, *paths = mark.args
    return part in (EVERY, f"{number}/8") or any(path.startswith(tuple(paths)) for path in changed_last())


def _has_its_database(item: pytest.Item, part: str) -> bool:
    callspec = getattr(item, "callspec", None)
    database = callspec.params.get(DATABASE) if callspec else None
    # Called without ./meshgrade test, pytest runs all that its arguments name.
    if database is None or part == EVERY or not os.environ.get("MESHGRADE_TEST_PART"):
        return True
    package = item.path.relative_to(_TESTS).parent.as_posix()
    if base() is None or any(path.startswith((f"{package}/", f"tests/{package}/", *_DATABASES)) for path in changed()):
        return True
    turn = zlib.crc32(item.nodeid.partition("[")[0].encode()) + int(part.partition("/")[0])
    return (database == "postgresql") == bool(turn % 2)
