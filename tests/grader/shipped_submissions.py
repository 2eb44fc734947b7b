"""The submissions that ship with the problems, as `slug:path`, for tests that judge them.

There are over a thousand, and each takes a second or two, so a run judges only a part (tests/parts.py). It judges those
whose stored outline (shipped_verdicts.py) is not that of the base, because the outline has a hash of all files that
decide the verdict. If the grader changed, and for one commit in eight, it also judges an eighth of the others. In mode
program, these are all submissions to an eighth of the problems, because preparing a problem takes as long as judging
several submissions. In mode call, they are an eighth of all submissions. If the grader changed, it also judges every
reference.
"""

import os
import re
from functools import cache
from pathlib import Path

import pytest

from grader.package.package import KnownSubmission, Package
from grader.review.reader import read_package
from tests.parts import PART, added_lines, base, changed, changed_last, exceeds_a_part, parameters, part_of
from tests.unchanged import SUBMISSIONS, due

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
_OUTLINES = "tests/grader/shipped_verdicts"
_OUTLINE = re.compile(r' "(?:submissions/)?(.+?)\.py": \{')
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
    names = [
        f"{slug}:{path}"
        for slug in sorted(slugs("call") + slugs("program"))
        for path in ("reference", "starter", *_submissions(slug))
    ]
    wanted = {name for name in names if _changed(*name.split(":"))}
    altered = _altered()
    too_many = exceeds_a_part(altered, names)
    if not too_many:
        wanted |= set(altered)
    if too_many or due(SUBMISSIONS):
        wanted |= _dealt(names)
    return [name for name in names if name in wanted]


def _dealt(names: list[str]) -> set[str]:
    """This run's eighth, and every reference if the grader changed."""
    # There are fewer call-mode problems than parts, and they are quick to prepare, so divide their submissions.
    calls = [f"{slug}:{path}" for slug in slugs("call") for path in _submissions(slug)]
    dealt = {*part_of(calls, PART), *(f"{slug}:{own}" for slug in slugs("call") for own in ("reference", "starter"))}
    whole = set(part_of(slugs("program"), PART))
    dealt |= {name for name in names if name.partition(":")[0] in whole}
    return dealt | {name for name in names if name.endswith(":reference") and _grader_changed()}


def _altered() -> list[str]:
    """The submissions whose stored outline, which is one line, is not that of the base, as `slug:path`."""
    if base() is None:
        return []
    found = ((path, _OUTLINE.match(line)) for path, line in added_lines(_OUTLINES))
    return [f"{Path(path).stem}:{match[1]}" for path, match in found if match]


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
