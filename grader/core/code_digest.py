"""Identify the grader by its sources, and the packages that decide verdicts with them.

Two processes with the same version of Meshgrade may have different graders: a fix changes a file without a new version.
"""

import functools
import hashlib
import importlib.metadata
from pathlib import Path

_SOURCES = Path(__file__).parents[1]
# The packages that decide what a submission computes.
PACKAGES = ("jax", "jaxlib", "flax", "optax", "numpy")
_DIGITS = 16


@functools.cache
def grader_code() -> str:
    """A digest of the files and the packages, and the version of JAX for people: `3f2a9c01b7de4455 jax 0.7.2`.

    Call it when the process starts: the files may change while it runs.
    """
    return digest_of(_SOURCES)


def digest_of(folder: Path) -> str:
    """Like `grader_code`, for the sources in this folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder)} {len(content)}\n".encode())
        digest.update(content)
    for name in PACKAGES:
        digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    return f"{digest.hexdigest()[:_DIGITS]} jax {importlib.metadata.version('jax')}"
