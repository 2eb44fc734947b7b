"""What the comparison of strategies says of H100s is what this compiler makes of its programs."""

import json

import pytest

from tests.problems.on_8_devices import CHECKOUT, run_on_8_devices

KEPT = CHECKOUT / "app" / "learning" / "calculators" / "measured_on_gpus.json"
pytestmark = [pytest.mark.xdist_group("gpu"), pytest.mark.timeout(600)]


def test_the_programs_are_what_was_measured() -> None:
    """If a difference is right, write what `found` is into the file."""
    found = run_on_8_devices("reference_programs_on_gpus.py", CHECKOUT / "problems")
    assert found == json.loads(KEPT.read_text(encoding="utf-8"))
