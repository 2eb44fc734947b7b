"""Choose what a run tests. The tree alone decides, so that the same tree always has the same tests.

What changed is what differs from the commit in `.ci/base`: the last commit of `main` that CI passed. The first commit
of a branch moves it forward, and no other commit does, so whatever the branch changed stays in the difference until all
of it has passed. The base counts only if it is an ancestor of HEAD. In a download, a shallow clone, or after a rebase,
every file counts as changed.

Slow work on many items, such as measuring the numbers in a statement, is done for one item in sixteen. An item's own
digest draws it (`is_drawn`), so its author sees at once what it draws, and no other commit can draw it.
A test marked `rotation("frontend/")` shows that something works which takes long and seldom changes. It runs if a file
whose path starts so changed, or without a path only with `--all`. A test for both databases runs on both if its package
of the service changed, or something that all packages share; otherwise it runs on one, always the same.

`./meshgrade test --all` does everything (tests/rotation.py).
"""

import hashlib
import os
import subprocess
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# `./meshgrade test --all` sets this variable.
EVERYTHING = "MESHGRADE_TEST_EVERYTHING"
BASE_FILE = ".ci/base"
# One item in so many is measured again in each run.
SIXTEEN = 16
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
_TESTS = Path(__file__).resolve().parent
CHECKOUT = _TESTS.parent


def everything() -> bool:
    """Whether this run does all of what is otherwise drawn or left out."""
    return bool(os.environ.get(EVERYTHING))


@cache
def base() -> str | None:
    """The commit in `.ci/base`; None if it is missing or is not an ancestor of HEAD."""
    file = CHECKOUT / BASE_FILE
    commit = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    if not commit or git("merge-base", "--is-ancestor", commit, "HEAD") is None:
        return None
    return commit


@cache
def changed() -> frozenset[str]:
    """The files that differ from the base, in commits or in the working tree. Without a base, all files.

    A file that moved is in it under both names.
    """
    if base() is None:
        listed = git("ls-files", "--cached", "--others", "--exclude-standard")
        if listed is None:
            return frozenset(str(path.relative_to(CHECKOUT)) for path in CHECKOUT.rglob("*") if path.is_file())
        return frozenset(listed.split("\n")) - {""}
    differ = git("diff", "--no-renames", "--name-only", str(base())) or ""
    new = git("ls-files", "--others", "--exclude-standard") or ""
    return frozenset(f"{differ}\n{new}".split("\n")) - {""}


def has_changed(*prefixes: str) -> bool:
    """Whether a file whose path starts with one of these prefixes changed."""
    return any(path.startswith(prefixes) for path in changed())


def text_before(path: str) -> str | None:
    """The text of a file as it was in the base; None without a base, or if the base does not have the file."""
    commit = base()
    return git("show", f"{commit}:{path}") if commit else None


def is_drawn(digest: str, one_in: int = SIXTEEN) -> bool:
    """Whether this run measures an item again, which is true for one in so many.

    Args:
      digest: a hexadecimal digest of what the item consists of, at least 8 digits long.
      one_in: how many items are there for each that is drawn.
    """
    return everything() or int(digest[:8], 16) % one_in == 0


def digest_of(*parts: str | bytes) -> str:
    """A digest of texts, to draw by."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d\n" % len(data) + data)
    return digest.hexdigest()[:SIXTEEN]


def parameters(values: list[Any]) -> list[Any]:
    """The values of a parameter. If a run leaves all of them out, pytest gets one that tests/unchanged.py deselects."""
    return values or [pytest.param(None, id="left out", marks=pytest.mark.left_out)]


def git(*command: str) -> str | None:
    """What Git prints; None if it fails or is not installed."""
    try:
        done = subprocess.run(["git", *command], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "rotation(*paths): run with --all, or if one of these changed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if not _is_chosen(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        numbers = {id(item) for item in left_out}
        items[:] = [item for item in items if id(item) not in numbers]


def _is_chosen(item: pytest.Item) -> bool:
    if everything():
        return True
    mark = item.get_closest_marker("rotation")
    return _has_its_database(item) and (mark is None or has_changed(*mark.args))


def _has_its_database(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    database = callspec.params.get(DATABASE) if callspec else None
    if database is None:
        return True
    package = item.path.relative_to(_TESTS).parent.as_posix()
    if has_changed(f"{package}/", f"tests/{package}/", *_DATABASES):
        return True
    turn = zlib.crc32(item.nodeid.partition("[")[0].encode())
    return (database == "postgresql") == bool(turn % 2)
