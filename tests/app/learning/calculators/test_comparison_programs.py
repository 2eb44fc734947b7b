"""The programs of the comparison that are our own train the common network as data parallelism does."""

import pytest

from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from grader.review.reader import read_package
from tests.problems.on_8_devices import CHECKOUT, STATEMENT_PROGRAMS, run_on_8_devices
from tests.problems.test_one_network import definition

# tests/slow_tests.py: a module with this name starts a compiler.
__all__ = ["run_on_8_devices"]
pytestmark = STATEMENT_PROGRAMS


@pytest.mark.rotation("app/learning/calculators/", "lessons/", "tests/problems/", "uv.lock")
def test_three_steps_give_the_state_and_the_losses_of_data_parallelism() -> None:
    apart = run_on_8_devices("own_programs_against_dp.py", CHECKOUT / "problems")
    assert set(apart) == {f"{name} on {devices}" for name in OWN_PROGRAMS for devices in (8, 4)}
    # As a share of the tolerance of dp_step.
    assert {name: share for name, share in apart.items() if not share <= 1} == {}


def test_each_has_the_network_of_data_parallelism() -> None:
    network = definition(read_package(CHECKOUT / "problems" / "dp_step").reference, "MLP")
    assert {name for name, each in OWN_PROGRAMS.items() if definition(each.source, "MLP") != network} == set()
