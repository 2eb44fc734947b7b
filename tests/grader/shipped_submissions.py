"""The submissions that ship with the problems, as `slug:path`, for tests that judge them.

There are over a thousand, and each takes a second or two, so their verdicts are stored (shipped_verdicts.py), each with
a digest of all files that decide it. A run judges one in sixteen again, which the digests draw, so that an author sees
at once what a problem draws. If the grader changed since the base, a run also judges every second reference.
With another JAX (--next-jax), it judges one reference in four. `./meshgrade test --all` judges everything.
"""

import os
import zlib
from functools import cache
from pathlib import Path

import pytest

from grader.package.package import KnownSubmission, Package
from grader.review.reader import read_package
from tests.grader.verdict_digests import digests
from tests.selection import digest_of, everything, has_changed, is_drawn, parameters

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
# If it is set, the tests judge everything and store the verdicts.
WRITE = "MESHGRADE_TEST_WRITE_VERDICTS"
# Which share of the problems the rotation judges now, such as 2/4 (tests/rotation.py).
SHARE = "MESHGRADE_TEST_SHARE"
# Set by `./meshgrade test --next-jax`.
NEXT_JAX = "MESHGRADE_TEST_NEXT_JAX"
_GRADER = ("grader/", "tests/grader/shipped", "tests/grader/verdict_digests.py", "uv.lock")


def slugs(mode: str) -> list[str]:
    return sorted(
        path.parent.name for path in PROBLEMS.glob("*/problem.toml") if f'mode = "{mode}"' in path.read_text()
    )


@cache
def package(slug: str) -> Package:
    return read_package(PROBLEMS / slug)


def each_of(mode: str, own: str) -> list[object]:
    """The slugs of the problems whose file `own`, the reference or the starter, is judged in this run."""
    return parameters([_parameter(slug, slug) for slug in slugs(mode) if f"{slug}:{own}" in _of_this_run()])


def accepted(mode: str) -> list[object]:
    return _part(mode, "accepted")


def rejected(mode: str) -> list[object]:
    return _part(mode, "rejected")


def _part(mode: str, kind: str) -> list[object]:
    wanted = slugs(mode)
    found = [(name.partition(":")[0], name) for name in _of_this_run()]
    return parameters([_parameter(slug, name) for slug, name in found if slug in wanted and f":{kind}/" in name])


@cache
def _of_this_run() -> list[str]:
    """What this run judges: references, starters and submissions, as `slug:path`."""
    number, shares = map(int, os.environ.get(SHARE, "1/1").split("/"))
    judged = []
    for slug in sorted(slugs("call") + slugs("program")):
        if zlib.crc32(slug.encode()) % shares == number - 1:
            judged += [f"{slug}:{path}" for path in _judged(slug)]
    return judged


def _judged(slug: str) -> list[str]:
    """In mode program, preparing a problem takes as long as judging several submissions, so all of a problem are drawn
    together, by the digest of all. In mode call, each is drawn by its own.
    """
    paths = _paths(slug)
    by_file = digests(package(slug), tuple(_file(path) for path in paths))
    own = {path: by_file[_file(path)] for path in paths}
    if everything() or os.environ.get(WRITE):
        return paths
    if os.environ.get(NEXT_JAX):
        return ["reference"] if is_drawn(own["reference"], 4) else []
    drawn = [path for path in paths if is_drawn(own[path])]
    if slug in slugs("program"):
        drawn = paths if is_drawn(digest_of(*own.values())) else []
    if "reference" not in drawn and has_changed(*_GRADER) and is_drawn(own["reference"], 2):
        drawn = ["reference", *drawn]
    return drawn


def _file(path: str) -> str:
    return f"submissions/{path}.py" if "/" in path else f"{path}.py"


def _paths(slug: str) -> list[str]:
    """The reference, the starter and the submissions, without `submissions/` and without a suffix."""
    folder = PROBLEMS / slug / "submissions"
    return [
        "reference",
        "starter",
        *(str(path.relative_to(folder).with_suffix("")) for path in sorted(folder.rglob("*.py"))),
    ]


def _parameter(slug: str, value: str) -> object:
    return pytest.param(value, marks=pytest.mark.xdist_group(slug))


def known(name: str) -> tuple[Package, KnownSubmission]:
    slug, _, path = name.partition(":")
    kind, _, rest = path.partition("/")
    submissions = package(slug).accepted if kind == "accepted" else package(slug).rejected
    return package(slug), next(each for each in submissions if each.name == rest)
