"""The submissions that ship with the problems, as `slug:path`, for tests that judge them.

There are over a thousand, and each takes a second or two, so a run judges only a part (tests/parts.py). In mode
program, it judges all submissions to an eighth of the problems, because preparing a problem takes as long as judging
several submissions. In mode call, it judges an eighth of all submissions. If the grader changed, it also judges every
reference.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from grader.package.package import KnownSubmission, Package
from grader.review.reader import read_package
from tests.parts import PART, changed, changed_last, part_of

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
_GRADER = ("grader/", "tests/grader/shipped", "uv.lock")


def slugs(mode: str) -> list[str]:
    return sorted(
        path.parent.name for path in PROBLEMS.glob("*/problem.toml") if f'mode = "{mode}"' in path.read_text()
    )


@cache
def package(slug: str) -> Package:
    return read_package(PROBLEMS / slug)


def each_of(mode: str, own: str) -> list[object]:
    """The slugs of the problems whose file `own`, the reference or the starter, is judged in this run."""
    return [_parameter(slug, slug) for slug in slugs(mode) if f"{slug}:{own}" in _of_this_run()]


def accepted(mode: str) -> list[object]:
    return _part(mode, "accepted")


def rejected(mode: str) -> list[object]:
    return _part(mode, "rejected")


def _part(mode: str, kind: str) -> list[object]:
    wanted = slugs(mode)
    found = [(name.partition(":")[0], name) for name in _of_this_run()]
    return [_parameter(slug, name) for slug, name in found if slug in wanted and f":{kind}/" in name]


@cache
def _of_this_run() -> list[str]:
    """What this run judges: references, starters and submissions, as `slug:path`."""
    # There are fewer call-mode problems than parts, and they are quick to prepare, so divide their submissions.
    calls = [f"{slug}:{path}" for slug in slugs("call") for path in _submissions(slug)]
    dealt = {*part_of(calls, PART), *(f"{slug}:{own}" for slug in slugs("call") for own in ("reference", "starter"))}
    whole = part_of(slugs("program"), PART)
    return [
        f"{slug}:{path}"
        for slug in sorted(slugs("call") + slugs("program"))
        for path in ("reference", "starter", *_submissions(slug))
        if slug in whole
        or f"{slug}:{path}" in dealt
        or (path == "reference" and _grader_changed())
        or _changed(slug, path)
    ]


def _submissions(slug: str) -> list[str]:
    folder = PROBLEMS / slug / "submissions"
    return [str(path.relative_to(folder).with_suffix("")) for path in sorted(folder.rglob("*.py"))]


def _grader_changed() -> bool:
    """Whether any verdict may have changed, as with another JAX (--next-jax)."""
    return bool(os.environ.get("MESHGRADE_TEST_EVERY_REFERENCE")) or any(each.startswith(_GRADER) for each in changed())


def _changed(slug: str, path: str) -> bool:
    """Whether one of the package's files that decide a submission's verdict changed."""
    own = f"submissions/{path}.py" if "/" in path else f"{path}.py"
    files = tuple(f"problems/{slug}/{each}" for each in (own, "problem.toml", "cases.py", "reference.py"))
    return any(each.startswith(files) for each in changed_last())


def _parameter(slug: str, value: str) -> object:
    return pytest.param(value, marks=pytest.mark.xdist_group(slug))


def known(name: str) -> tuple[Package, KnownSubmission]:
    slug, _, path = name.partition(":")
    kind, _, rest = path.partition("/")
    submissions = package(slug).accepted if kind == "accepted" else package(slug).rejected
    return package(slug), next(each for each in submissions if each.name == rest)
