"""Verdicts are the same as before, in whatever version they were stored: see golden_verdicts.py."""

import json

import pytest

from grader.verdicts.verdict import Verdict
from tests.grader.golden_verdicts import FOLDER, GROUPS, dump

NAMES = [(group, name) for group, scenarios in GROUPS.items() for name in scenarios]


@pytest.mark.parametrize(("group", "name"), NAMES, ids=lambda text: text.replace(" ", "_"))
def test_a_verdict_is_as_before(group: str, name: str):
    kept = json.loads((FOLDER / f"{group}.json").read_text(encoding="utf-8"))
    assert dump(GROUPS[group][name]()) == dump(Verdict.model_validate(kept[name]))


def test_nothing_is_kept_that_is_not_looked_at():
    kept = {path.stem: list(json.loads(path.read_text(encoding="utf-8"))) for path in FOLDER.glob("*.json")}
    assert kept == {group: list(scenarios) for group, scenarios in GROUPS.items()}
