"""The arguments of `judge`, `inspect`, `run` and `submit`: a problem, and a file to read."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.start_errors import StartRefused
from grader.core.toml import TomlInvalid, read_toml

if TYPE_CHECKING:
    from grader.package.package import Package


def package_of(problem: str) -> "Package":
    from app.core.settings import load_settings
    from app.problems.catalogue import Catalogue
    from grader.review.reader import read_package

    settings = load_settings()
    if "/" in problem or Path(problem).is_dir():
        return read_package(Path(problem).resolve(), settings.ceiling)
    folder = settings.problems / problem
    if folder.is_dir():
        return read_package(folder, settings.ceiling)
    return Catalogue.load(folder.parent).get(problem)


def source_limit() -> int:
    from app.core.settings import load_settings

    return load_settings(host=None, port=None, data=None).max_source_bytes


def source_of(file: str, limit: int) -> str:
    from app.grading.attempts.source_rules import check_source

    source = text_of(file, limit)
    check_source(source, limit)
    return _json_of(file, source) if file.endswith(".toml") else source


def text_of(file: str, limit: int) -> str:
    """Raises `StartRefused`: it cannot be read, is not UTF-8, or has more bytes than `limit`."""
    try:
        # One byte over the limit is enough to see that the file is too long.
        data = sys.stdin.buffer.read(limit + 1) if file == "-" else _read(Path(file), limit + 1)
    except OSError as error:
        raise StartRefused(f"{file} cannot be read: {error.strerror}", "Name the Python file to grade.") from None
    if len(data) > limit:
        raise StartRefused(f"{file} is too long: over {limit:,} bytes", "Submit only the code, without data in it.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise StartRefused(
            f"{file} is not UTF-8: byte 0x{data[error.start]:02x} on line {line}", "Save the file as UTF-8."
        ) from None


def _json_of(file: str, text: str) -> str:
    """Answers in TOML as JSON, which is what an answer-mode problem takes."""
    try:
        return json.dumps(read_toml(text), indent=2, ensure_ascii=False) + "\n"
    except (TomlInvalid, TypeError) as error:
        raise StartRefused(
            f"{file} has no answers in TOML: {error}", 'Write a line such as `bytes = "12 MiB"` for each answer.'
        ) from None


def _read(path: Path, size: int) -> bytes:
    with path.open("rb") as opened:
        return opened.read(size)
