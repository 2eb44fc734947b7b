"""The submissions that ship with the problems, by `slug:path`, for tests that put them through the judge.

There are more than four hundred, each of which takes a second or two, so `./meshgrade test` takes every eighth, another
eighth for each commit, and `--all` takes all. Where pytest is started by hand, MESHGRADE_TEST_PART says which: `3/8`,
or `all`.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from grader.package.package import KnownSubmission, Package
from grader.package.reader import read_package

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
# `3/8`: the third of eight parts.
_PART = os.environ.get("MESHGRADE_TEST_PART") or "1/8"


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


def part_of(names: list[str], part: str) -> list[str]:
    """Those of a part, `3/8`: the names dealt out in turn, so that each is in one part and a problem is in most."""
    number, parts = map(int, part.split("/"))
    return names[number - 1 :: parts]


def _part(mode: str, kind: str) -> list[object]:
    # Dealt out over the problems of both modes, or those of the mode with few would all be in the first parts.
    files = {
        f"{slug}:{path.relative_to(PROBLEMS / slug / 'submissions').with_suffix('')}": slug
        for slug in sorted(slugs("call") + slugs("program"))
        for path in sorted((PROBLEMS / slug / "submissions").rglob("*.py"))
    }
    chosen = list(files) if _PART == "all" else part_of(list(files), _PART)
    wanted = slugs(mode)
    return [_parameter(files[name], name) for name in chosen if files[name] in wanted and f":{kind}/" in name]


def _parameter(slug: str, value: str) -> object:
    return pytest.param(value, marks=pytest.mark.xdist_group(slug))


def known(name: str) -> tuple[Package, KnownSubmission]:
    slug, _, path = name.partition(":")
    kind, _, rest = path.partition("/")
    submissions = package(slug).accepted if kind == "accepted" else package(slug).rejected
    return package(slug), next(each for each in submissions if each.name == rest)
