"""The digest of everything in a package that a verdict on one of its files depends on.

A stored verdict holds for the digest that is beside it (shipped_verdicts.py), and the digest decides whether a run
judges the file again (shipped_submissions.py).
"""

import hashlib
import importlib.metadata
import json
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from grader.package.fault import MANIFEST_FILE
from grader.package.package import Package

_TEXTS = ("statement.md", "hints.md", "editorial.md", "figures/")
# What a manifest says about the problem, not about how it is judged.
_ABOUT = ("title", "summary", "outcome", "track", "difficulty", "tags", "prerequisites", "authors", "licence")
_WORDS = ("title", "means", "rule")
_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "numpy")


def depends_on(problem: Package, file: str) -> str:
    """A hash of everything that the verdict on a file depends on, except the grader."""
    return digests(problem, (file,))[file]


def digests(problem: Package, files: tuple[str, ...]) -> Mapping[str, str]:
    """The digest for each of several files of a package, which reads what they share only once."""
    versions = _versions()
    entries = [(name, _entry(name, text)) for name, text in sorted(problem.files.items())]
    shared = {name for name, _ in entries if not name.startswith((*_TEXTS, "submissions/"))}
    found = {}
    for file in files:
        digest = hashlib.sha256(versions)
        for name, entry in entries:
            if name == file or name in shared:
                digest.update(entry)
        found[file] = digest.hexdigest()[:16]
    return found


@cache
def _versions() -> bytes:
    return "".join(f"{library} {importlib.metadata.version(library)}\n" for library in _LIBRARIES).encode()


def _entry(name: str, text: str) -> bytes:
    if name == MANIFEST_FILE:
        decides = {key: value for key, value in tomllib.loads(text).items() if key not in _ABOUT}
        text = json.dumps(_without_words(decides), sort_keys=True)
    return f"{name} {len(text)}\n{text}\n".encode()


def _without_words(table: Any) -> Any:
    """What a check says is in its messages, which an outline does not have."""
    if isinstance(table, list):
        return [_without_words(each) for each in table]
    if not isinstance(table, dict):
        return table
    return {key: _without_words(value) for key, value in table.items() if key not in _WORDS}
