"""Verdicts that must not change by accident, for every check and every reason, on submissions that never run.

The replies of runners and verifiers are made up; everything else is the judge's own code: modes, checks and report. The
verdicts are in golden/, one file per group. After a deliberate change, such as of a message, write them again and read
the difference: `.venv/bin/python -m tests.grader.golden_verdicts`
"""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from grader.modes.report import Report
from grader.verdicts.verdict import Verdict
from tests.grader.golden_answers import ANSWERS
from tests.grader.golden_calls import CALLS
from tests.grader.golden_judge import Groups, package_of
from tests.grader.golden_programs import PROGRAMS

FOLDER = Path(__file__).parent / "golden"


def dump(verdict: Verdict) -> dict[str, Any]:
    """The verdict as it is stored, without defaults and without timings, which differ each time."""
    stored: dict[str, Any] = _without_defaults(verdict)
    stored.pop("timings_ms", None)
    return stored


def _without_defaults(value: Any) -> Any:
    if isinstance(value, BaseModel):
        fields = {
            name: field.get_default(call_default_factory=True) for name, field in type(value).model_fields.items()
        }
        shown = {name: getattr(value, name) for name in fields}
        # A reader of the file needs these two fields, even if they are defaults.
        shown = {k: v for k, v in shown.items() if k in ("schema_version", "kind") or v != fields[k]}
        return {name: _without_defaults(each) for name, each in shown.items()}
    if isinstance(value, dict):
        return {name: _without_defaults(each) for name, each in value.items()}
    return [_without_defaults(each) for each in value] if isinstance(value, list | tuple) else value


def failed() -> Verdict:
    return Report(package_of("call", [{"id": "values"}]), hidden=True, walls=()).failed()


GROUPS: Groups = ANSWERS | CALLS | PROGRAMS | {"failed": {"failed": failed}}


def write() -> None:
    for group, scenarios in GROUPS.items():
        found = {name: dump(scenario()) for name, scenario in scenarios.items()}
        text = json.dumps(found, indent=1, ensure_ascii=False)
        (FOLDER / f"{group}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    write()
