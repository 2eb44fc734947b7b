"""The part of a verdict that the front page shows: app/learning/browse/front_page_example.json.

It is the starter of a problem, so that the page's button opens that program in the editor. After a deliberate change,
judge the starter again (`./meshgrade judge --json`, into verdict.json) and read the difference that this makes:
`.venv/bin/python -m tests.grader.front_example verdict.json`
"""

import json
import sys
from pathlib import Path
from typing import Any

from app.learning.browse.front_page_example import FILE
from grader.review.reader import read_package
from grader.verdicts.evidence import Leaves
from grader.verdicts.verdict import Verdict

PROBLEM, LEAF = "fsdp_linear_real", "result/1/kernel"
CHECKOUT = Path(__file__).resolve().parents[2]


def example_of(source: str, verdict: Verdict) -> dict[str, Any]:
    """The line of the source that returns the parameters; each check; the leaf on the first mesh."""
    evidence = [entry for check in verdict.checks for entry in check.evidence]
    leaves = next(entry for entry in evidence if isinstance(entry, Leaves))
    return {
        "problem": verdict.problem,
        "code": _returning(source),
        "status": verdict.status,
        "reason": verdict.reason,
        "score": verdict.score,
        "misconception": verdict.misconception,
        "checks": [check.model_dump(include={"title", "passed", "points", "max_points"}) for check in verdict.checks],
        "leaves": leaves.model_copy(
            update={"leaves": [leaf for leaf in leaves.leaves if leaf.path == LEAF]}
        ).model_dump(mode="json"),
    }


def _returning(source: str) -> str:
    return next(line.strip() for line in source.splitlines() if line.startswith("    return loss, "))


def main() -> None:
    verdict = Verdict.model_validate_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    made = example_of(read_package(CHECKOUT / "problems" / PROBLEM).starter, verdict)
    FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
