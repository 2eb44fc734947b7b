"""Verdicts that must not change by accident, for every check and every reason, on submissions that never run.

The replies of runners and verifiers are made up; everything after them is the judge's own code: modes, checks, report.
The verdicts are in golden/, one file per group. After a deliberate change, such as of a message, write them again and
read the difference: `.venv/bin/python -m tests.grader.golden_verdicts`
"""

import json
from pathlib import Path
from typing import Any

from grader.report import Report
from grader.verdict import Verdict
from tests.grader.golden_calls import CALLS
from tests.grader.golden_judging import Groups, package_of
from tests.grader.golden_programs import PROGRAMS

FOLDER = Path(__file__).parent / "golden"


def dump(verdict: Verdict) -> dict[str, Any]:
    """The verdict as it is stored, without the parts that differ each time."""
    stored: dict[str, Any] = json.loads(verdict.model_dump_json())
    del stored["timings_ms"]
    return stored


def failed() -> Verdict:
    return Report(package_of("call", [{"id": "values"}]), hidden=True, walls=()).failed()


GROUPS: Groups = CALLS | PROGRAMS | {"failed": {"failed": failed}}


def write() -> None:
    for group, scenarios in GROUPS.items():
        found = {name: dump(scenario()) for name, scenario in scenarios.items()}
        text = json.dumps(found, indent=1, ensure_ascii=False)
        (FOLDER / f"{group}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    write()
