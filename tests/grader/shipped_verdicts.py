"""Outlines of the verdicts of submissions that ship, one file per problem in shipped_verdicts/.

The tests that judge them compare: status, reason, score, what each check says and which evidence it gives. Numbers
and messages are left to golden_verdicts.py, since they differ from one processor to the next, and writing them again
takes minutes. With MESHGRADE_TEST_WRITE_VERDICTS=1 these tests write what they judge instead.
"""

import json
import os
from pathlib import Path
from typing import Any

from grader.verdict import Verdict
from tests.grader.checked import compare_with_checked

FOLDER = Path(__file__).parent / "shipped_verdicts"
_WRITE = bool(os.environ.get("MESHGRADE_TEST_WRITE_VERDICTS"))


def compare_with_kept(name: str, verdict: Verdict) -> None:
    """`name` is `slug:path`, as in shipped.py. A problem is one test process's, so no two write one file."""
    compare_with_checked(name, verdict)
    slug, _, path = name.partition(":")
    file = FOLDER / f"{slug}.json"
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if _WRITE:
        FOLDER.mkdir(exist_ok=True)
        text = json.dumps(dict(sorted((kept | {path: _outline(verdict)}).items())), indent=1)
        file.write_text(f"{text}\n", encoding="utf-8")
    else:
        assert path in kept, f"{name} is new: write its outline, as CONTRIBUTING.md says"
        assert _outline(verdict) == kept[path]


def _outline(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": verdict.status,
        "reason": verdict.reason,
        "score": verdict.score,
        "checks": {check.id: f"{check.points} of {check.max_points}, {check.trust}" for check in verdict.checks},
        "evidence": {check.id: _evidence(check.model_dump()["evidence"]) for check in verdict.checks},
        "public_cases": {case.id: case.passed for case in verdict.cases if case.public},
    }


def _evidence(entries: list[dict[str, Any]]) -> list[str]:
    """`leaves x=8`, `case public-1 x=8`."""
    outlines = []
    for entry in entries:
        mesh = [f"{axis}={size}" for axis, size in (entry.get("mesh") or {}).items()]
        case = [entry["case"]] if "case" in entry else entry.get("cases", [])
        outlines.append(" ".join([entry["kind"], *case, *mesh]))
    return outlines
