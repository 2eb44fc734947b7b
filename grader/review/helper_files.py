"""The helper files of a package: modules that submissions and the package's own code can import, and students read."""

import ast
from collections.abc import Mapping

from grader.core.installed_modules import is_installed
from grader.package.fault import PackageFault

FOLDER = "helpers/"
_MOST = 8
_MOST_BYTES = 64 << 10
# The names of the grader's own modules beside a submission.
_RESERVED = ("grader", "submission")


def helpers_in(files: Mapping[str, str]) -> dict[str, str]:
    """The sources of the helpers, by the names that code imports."""
    return {_name_of(file): text for file, text in files.items() if file.startswith(FOLDER)}


def wrong_helpers(files: Mapping[str, str], slug: str) -> list[PackageFault]:
    """Find helpers that would hide another module, that are not Python, or that are too many or too long.

    Args:
      slug: the slug of the problem. `meshgrade pull` writes the starter to a file of this name, beside the helpers.
    """
    found = {file: text for file, text in files.items() if file.startswith(FOLDER)}
    faults = [
        PackageFault("helper", file, line, f"{file} {what}")
        for file, text in found.items()
        for line, what in _faults_of(_name_of(file), text, slug)
    ]
    size = sum(len(text.encode()) for text in found.values())
    if len(found) > _MOST or size > _MOST_BYTES:
        message = (
            f"{FOLDER} has {len(found)} files of {size:,} bytes in all; at most {_MOST} of {_MOST_BYTES:,} are read"
        )
        faults.append(PackageFault("helper", FOLDER, None, message))
    return faults


def _name_of(file: str) -> str:
    return file.removeprefix(FOLDER).removesuffix(".py")


def _faults_of(name: str, source: str, slug: str) -> list[tuple[int | None, str]]:
    if name in _RESERVED or is_installed(name):
        return [(None, f"would hide the installed module {name}")]
    if name == slug:
        return [(None, "has the name of the problem, which is that of the student's own file")]
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [(error.lineno if isinstance(error, SyntaxError) else None, f"is not Python: {error}")]
    return []
