"""What compiled references store, send and compute is what the formulas say."""

import pytest

from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from app.learning.calculators.measured_programs import PROBLEMS, REFERENCES, comparisons_of
from app.learning.calculators.tables import BY_NAME, CALCULATORS

NAMES = ("state", "traffic", "flops", "peak-memory", "pipeline-bubble")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_measured_is_what_is_computed(name: str) -> None:
    found = comparisons_of(name)
    wrong = [f"{each.reference.name} on {each.reference.mesh_name}: {each}" for each in found if not each.holds]
    assert wrong == []
    assert all(each.deviation == "none" for each in found if not each.is_bound)
    assert {each.is_bound for each in found} == {name == "peak-memory"}
    # The larger and the smaller mesh of each problem.
    assert {each.reference.devices for each in found} == {8, 4}


def test_a_bound_is_not_too_loose_to_mean_anything() -> None:
    for each in comparisons_of("peak-memory"):
        assert each.measured > each.computed / 2, each


def test_a_calculator_without_measurements_says_why() -> None:
    for each in CALCULATORS:
        assert bool(comparisons_of(each.name)) != bool(each.unmeasured), each.name
    assert BY_NAME["communication-time"].unmeasured.startswith("Not measured here, because there is no network:")


def test_every_program_is_measured_on_both_meshes() -> None:
    names = {*PROBLEMS, *OWN_PROGRAMS}
    assert {(each.name, each.devices) for each in REFERENCES} == {
        (name, devices) for name in names for devices in (8, 4)
    }
    assert len(REFERENCES) == 2 * len(names)
