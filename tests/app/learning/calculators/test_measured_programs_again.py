"""The references, compiled again, are what app/learning/calculators/measured_programs.json says."""

import json
from typing import Any

import pytest

from tests.app.learning.calculators.write_measured_programs import MEASURED, measure
from tests.problems.on_8_devices import STATEMENT_PROGRAMS, run_on_8_devices

# tests/slow_tests.py: a module with this name starts a compiler.
__all__ = ["run_on_8_devices"]
pytestmark = [
    STATEMENT_PROGRAMS,
    pytest.mark.rotation("app/learning/calculators/", "grader/program/", "tests/problems/", "uv.lock"),
]


def test_the_references_are_what_was_measured() -> None:
    """Differences by program and quantity.

    If they are right: python -m tests.app.learning.calculators.write_measured_programs"""
    written, found = json.loads(MEASURED.read_text(encoding="utf-8")), measure()
    assert written["jax"] == found["jax"]
    assert _by_program(written) == _by_program(found)


def _by_program(measured: dict[str, Any]) -> dict[str, Any]:
    return {f"{each['name']} on {each['mesh']}": each for each in measured["programs"]}
