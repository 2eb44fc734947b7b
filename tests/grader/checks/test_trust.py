"""What an observed check may affect: points and acceptance, never a ranking."""

import json
from pathlib import Path
from typing import get_args

from grader import checks
from grader.verdicts.verdict import Mode, Verdict

GOLDEN = Path(__file__).parents[1] / "golden"


def observed(mode: Mode) -> set[str]:
    return {name for name in checks.names(mode) if checks.load(mode, name).TRUST == "observed"}


def test_only_call_mode_observes():
    assert {mode for mode in get_args(Mode) if observed(mode)} == {"call"}


def test_a_ranking_uses_verified_facts_alone():
    """A ranking lists the attempts that have an efficiency."""
    verdicts = [Verdict.model_validate(each) for path in GOLDEN.glob("*.json") for each in _verdicts(path)]
    ranked = [verdict for verdict in verdicts if verdict.efficiency is not None]
    assert ranked
    assert {check.trust for verdict in ranked for check in verdict.checks} == {"verified"}


def _verdicts(path: Path) -> list[object]:
    found = json.loads(path.read_text())
    return list(found.values())
