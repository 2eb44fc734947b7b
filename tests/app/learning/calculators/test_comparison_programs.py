"""The programs of the comparison that are our own have the network of data parallelism.

`python -m tests.prove` runs them beside it: three steps must give the same state and the same losses.
"""

from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from grader.review.reader import read_package
from tests.import_closure import CHECKOUT
from tests.problems.test_one_network import definition
from tests.prove.calculators import KINDS


def test_each_has_the_network_of_data_parallelism() -> None:
    network = definition(read_package(CHECKOUT / "problems" / "dp_step").reference, "MLP")
    assert {name for name, each in OWN_PROGRAMS.items() if definition(each.source, "MLP") != network} == set()


def test_a_state_beyond_the_tolerance_is_named() -> None:
    [steps] = [kind for kind in KINDS if kind.name == "own_programs"]
    assert steps.differences("tp", {"tensor=8": 1, "tensor=4": 1.1}) == [
        "lessons/tensor-sequence-context/programs/tp.py on tensor=4 is 1.1 times the tolerance from dp_step"
    ]
    assert steps.differences("tp", {"tensor=8": float("nan")})
    # Below it, shares differ between processors.
    assert steps.apart({"tensor=8": 0.1}, {"tensor=8": 0.2}) == []
    assert steps.apart({"tensor=8": 0.1}, {"tensor=8": 1.2}) == ["tensor=8: 1.2 times the tolerance"]
    assert steps.apart({"tensor=8": 0.1}, {}) == ["tensor=8 is missing"]
