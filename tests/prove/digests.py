"""Digests of the files, texts and versions that decide a measurement. Paths are relative to the checkout."""

from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from tests.import_closure import CHECKOUT, closure

LIBRARIES = ("jax", "jaxlib", "flax", "optax")
# What a program reads off a page is in the digest of each unit, so the reader of pages is not.
_READERS = ("tests/docs/pages.py",)
# Folders that programs read without an import.
_READ_BY = {
    "tests/grader/program/scheduled_programs.py": (
        "tests/grader/program/scheduled",
        "tests/grader/program/scheduled_on_gpus",
    ),
}


def of_text(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]


@cache
def of_file(path: str) -> str:
    return sha256((CHECKOUT / path).read_bytes()).hexdigest()[:32]


def of_files(paths: Iterable[str]) -> dict[str, str]:
    return {path: of_file(path) for path in paths}


def of_parts(parts: Mapping[str, str]) -> str:
    """One digest of parts, each a name with its own digest."""
    return of_text("\n".join(f"{name} {parts[name]}" for name in sorted(parts)))


@cache
def files_in(folder: str) -> tuple[str, ...]:
    """Every file below a folder, without bytecode."""
    found = (path for path in (CHECKOUT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return tuple(sorted(str(path.relative_to(CHECKOUT)) for path in found))


@cache
def versions() -> dict[str, str]:
    return {name: version(name) for name in LIBRARIES}


@cache
def shared(programs: tuple[str, ...]) -> tuple[str, ...]:
    """The files of tests/ and lessons/ that measuring programs import, without fixtures, and what those read."""
    imported = closure(programs, within=("tests/", "lessons/"), without=_READERS)
    found = {path for path in imported if Path(path).name != "conftest.py"}
    read = {file for path in found for folder in _READ_BY.get(path, ()) for file in files_in(folder)}
    return tuple(sorted(found | read))


@cache
def of_service(programs: tuple[str, ...]) -> str:
    """The files of grader/ and app/ that measuring programs import."""
    return of_parts(of_files(path for path in closure(programs) if path.startswith(("grader/", "app/"))))
