"""Outlines of the verdicts of shipped submissions, one file per problem in shipped_verdicts/, and the fingerprints that
`meshgrade problem check` writes into a package's known.json.

Judging all of them takes too long for one run of the tests. So each outline is stored with a hash of everything in the
package that the verdict depends on, and only a file that changed has to be judged again. Each run judges one submission
in sixteen and compares; with MESHGRADE_TEST_WRITE_VERDICTS=1 it judges all and writes. Numbers and messages, which
differ between processors, are left to golden_verdicts.py. See docs/decisions/0021-kept-verdicts-of-a-check.md.
"""

import json
import os
from pathlib import Path
from typing import Any

from grader.mistakes.known_mistakes import current, holds, known_text, runnable, updated
from grader.package.package import Package
from grader.review.reader import KNOWN, read_package
from grader.review.validation import expectations
from grader.verdicts.verdict import CaseResult, CheckResult, Verdict
from tests.grader.shipped_submissions import PROBLEMS, WRITE, package
from tests.grader.verdict_digests import depends_on

FOLDER = Path(__file__).parent / "shipped_verdicts"
AGAIN = (
    "Judge what changed: MESHGRADE_TEST_WRITE_VERDICTS=1 .venv/bin/python -m pytest "
    "tests/grader/test_program_verdicts.py tests/grader/test_call_verdicts.py -k {slug}"
)


def kept(slug: str) -> dict[str, Any]:
    file = FOLDER / f"{slug}.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def write(slug: str, outlines: dict[str, Any]) -> None:
    """Drop the outlines of files that the package no longer has."""
    named = [each.file for each in expectations(package(slug))]
    text = ",\n".join(f" {json.dumps(name)}: {json.dumps(outlines[name])}" for name in named if name in outlines)
    (FOLDER / f"{slug}.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


def compare_with_kept(name: str, verdict: Verdict) -> None:
    """`name` is `slug:path`, as in shipped_submissions.py. One test process handles a problem, so no two write the
    same file.
    """
    slug, _, path = name.partition(":")
    file = f"{path}.py" if path in ("reference", "starter") else f"submissions/{path}.py"
    found = {"of": depends_on(package(slug), file), **outline(verdict)}
    if os.environ.get(WRITE):
        write(slug, kept(slug) | {file: found})
    elif kept(slug).get(file, {}).get("of") == found["of"]:  # else tests/shipped fails
        assert kept(slug)[file] == found
    if file.startswith("submissions/rejected/"):
        _compare_with_known(slug, file.removeprefix("submissions/rejected/").removesuffix(".py"), verdict)


def _compare_with_known(slug: str, name: str, verdict: Verdict) -> None:
    # Read it again, because other tests also write it.
    problem = read_package(PROBLEMS / slug)
    if os.environ.get(WRITE):
        text = known_text(updated(problem, {name: verdict.fingerprint}))
        (PROBLEMS / slug / KNOWN).write_text(text, encoding="utf-8")
    elif shipped := current(problem).get(name):
        assert holds(problem, shipped, verdict.fingerprint), f"{slug}: known.json says otherwise of {name}"


def without_fingerprint(slug: str) -> list[str]:
    """The known wrong submissions without a current fingerprint in known.json."""
    shipped = current(package(slug))
    return [each.name for each in runnable(package(slug)) if each.name not in shipped]


def outline(verdict: Verdict) -> dict[str, Any]:
    """The outline of a verdict, without defaults: accepted, and every check made and passed, without its evidence.

    A failed hidden case counts only if no public one failed, because `problem check` asks whether any case failed.
    """
    failed_cases = [each.id for each in verdict.cases if each.public and not each.passed]
    if not failed_cases and not all(each.passed for each in verdict.cases):
        failed_cases = ["hidden"]
    evidence = {each.id: _evidence(each.model_dump()["evidence"]) for each in verdict.checks}
    found = {
        "status": verdict.status,
        "reason": verdict.reason,
        "failed_checks": [each.id for each in verdict.checks if not each.passed],
        "failed_cases": failed_cases,
        "unchecked": [each.id for each in verdict.checks if not each.checked],
        "evidence": {id: entries for id, entries in evidence.items() if entries and verdict.status != "accepted"},
    }
    return {name: each for name, each in found.items() if each}


def _evidence(entries: list[dict[str, Any]]) -> list[str]:
    """`leaves x=8`, `case public-1 x=8`."""
    outlines = []
    for entry in entries:
        mesh = [f"{axis}={size}" for axis, size in (entry.get("mesh") or {}).items()]
        case = [entry["case"]] if "case" in entry else entry.get("cases", [])
        outlines.append(" ".join([entry["kind"], *case, *mesh]))
    return outlines


class KeptJudge:
    """A judge that gives each submission of a problem its stored verdict."""

    def __init__(self, problem: Package) -> None:
        outlines = kept(problem.slug)
        self._verdicts = {each.source: _verdict(problem, outlines[each.file]) for each in expectations(problem)}

    def prepare(self, *_: object, **__: object) -> None:
        """Do nothing: the stored verdicts show that the cases work."""

    def judge(self, problem: Package, source: str, *_: object, **__: object) -> Verdict:
        return self._verdicts[source]


def _verdict(problem: Package, found: dict[str, Any]) -> Verdict:
    checks = [
        CheckResult(
            id=each.id,
            title=each.id,
            passed=each.id not in found.get("failed_checks", []),
            checked=each.id not in found.get("unchecked", []),
            points=0,
            max_points=each.points,
            trust="verified",
            message="kept",
        )
        for each in problem.manifest.checks
    ]
    return Verdict(
        problem=problem.slug,
        version=problem.version,
        status=found["status"],
        reason=found.get("reason"),
        score=0,
        checks=checks,
        cases=[CaseResult(id="public-1", public=True, passed="failed_cases" not in found, message="kept")],
        walls=[],
    )
