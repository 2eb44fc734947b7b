"""Verdicts that must stay as they are: of every check and every reason, on submissions that nobody runs.

What runners and verifiers answer is made up, and from there on all is the judge's own: modes, checks, report. The
verdicts lie in golden/, one file a group. After a change that is meant, such as of a message, write them anew and read
the difference: `.venv/bin/python -m tests.grader.golden_verdicts`
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
    """As it is stored, without what is another each time."""
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
