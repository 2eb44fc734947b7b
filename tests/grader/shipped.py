"""The submissions that ship with the problems, by `slug:path`, for tests that put them through the judge.

There are more than seven hundred, each of which takes a second or two, so a run takes a part of them (tests/parts.py).
"""

from functools import cache
from pathlib import Path

import pytest

from grader.package.package import KnownSubmission, Package
from grader.package.reader import read_package
from tests.parts import chosen

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"


def slugs(mode: str) -> list[str]:
    return sorted(
        path.parent.name for path in PROBLEMS.glob("*/problem.toml") if f'mode = "{mode}"' in path.read_text()
    )


@cache
def package(slug: str) -> Package:
    return read_package(PROBLEMS / slug)


def each_of(mode: str) -> list[object]:
    """The slugs, each for one test process, so that only one process prepares the problem."""
    return [_parameter(slug, slug) for slug in slugs(mode)]


def accepted(mode: str) -> list[object]:
    return _part(mode, "accepted")


def rejected(mode: str) -> list[object]:
    return _part(mode, "rejected")


def _part(mode: str, kind: str) -> list[object]:
    # Dealt out over the problems of both modes, or those of the mode with few would all be in the first parts.
    files = {
        f"{slug}:{path.relative_to(PROBLEMS / slug / 'submissions').with_suffix('')}": slug
        for slug in sorted(slugs("call") + slugs("program"))
        for path in sorted((PROBLEMS / slug / "submissions").rglob("*.py"))
    }
    wanted = slugs(mode)
    return [
        _parameter(files[name], name)
        for name in chosen(list(files), _judged_from)
        if files[name] in wanted and f":{kind}/" in name
    ]


def _judged_from(name: str) -> tuple[str, ...]:
    """The files that decide a submission's verdict, beside the grader's."""
    slug, _, path = name.partition(":")
    folder = f"problems/{slug}"
    return f"{folder}/submissions/{path}.py", f"{folder}/problem.toml", f"{folder}/cases.py", f"{folder}/reference.py"


def _parameter(slug: str, value: str) -> object:
    return pytest.param(value, marks=pytest.mark.xdist_group(slug))


def known(name: str) -> tuple[Package, KnownSubmission]:
    slug, _, path = name.partition(":")
    kind, _, rest = path.partition("/")
    submissions = package(slug).accepted if kind == "accepted" else package(slug).rejected
    return package(slug), next(each for each in submissions if each.name == rest)
