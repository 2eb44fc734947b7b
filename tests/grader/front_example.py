"""The part of a verdict that the front page shows: app/learning/browse/front_page_example.json.

After a deliberate change, judge the submission again (`./meshgrade judge --json`, into verdict.json) and read the
difference that this makes: `.venv/bin/python -m tests.grader.front_example verdict.json`
"""

import json
import sys
from pathlib import Path
from typing import Any

from app.learning.browse.front_page_example import FILE
from grader.review.reader import read_package
from grader.verdicts.evidence import Leaves
from grader.verdicts.verdict import Verdict

PROBLEM, SUBMISSION = "fsdp_shard_map_step", "wrong_sharding/moments_replicated"
LEAF = "mu/dense1/kernel"
CHECKOUT = Path(__file__).resolve().parents[2]


def example_of(source: str, verdict: Verdict) -> dict[str, Any]:
    """The line of the source that places the state; each check; the leaf on the first mesh."""
    evidence = [entry for check in verdict.checks for entry in check.evidence]
    leaves = next(entry for entry in evidence if isinstance(entry, Leaves))
    return {
        "problem": verdict.problem,
        "submission": SUBMISSION,
        "code": _placing(source),
        "status": verdict.status,
        "reason": verdict.reason,
        "score": verdict.score,
        "misconception": verdict.misconception,
        "checks": [check.model_dump(include={"title", "passed", "points", "max_points"}) for check in verdict.checks],
        "leaves": leaves.model_copy(
            update={"leaves": [leaf for leaf in leaves.leaves if leaf.path == LEAF and leaf.when == "in"]}
        ).model_dump(mode="json"),
    }


def _placing(source: str) -> str:
    return next(line for line in source.splitlines() if line.startswith("SPECS = "))


def main() -> None:
    verdict = Verdict.model_validate_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    rejected = {each.name: each for each in read_package(CHECKOUT / "problems" / PROBLEM).rejected}
    made = example_of(rejected[SUBMISSION].source, verdict)
    FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
