"""Hypothesis draws the same examples on every machine."""

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
DRAW = """
import tests.conftest
from hypothesis import given, settings, strategies as st

drawn = []

@given(st.lists(st.integers()))
def draw(numbers):
    drawn.append(numbers)

draw()
chosen = settings.default
print(drawn, chosen.database, chosen.deadline, chosen.print_blob, chosen.suppress_health_check)
"""


def test_the_examples_are_the_same_in_ci_and_in_each_run(tmp_path):
    def drawn(**further: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name not in {"CI", "GITHUB_ACTIONS"}}
        command = [sys.executable, "-c", DRAW]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment | {"PYTHONPATH": str(CHECKOUT)} | further,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        ).stdout

    here = drawn()
    assert here.count("[") > 90
    assert here.endswith("None None True (HealthCheck.too_slow,)\n")
    assert drawn(CI="true") == here
    assert list(tmp_path.iterdir()) == []
