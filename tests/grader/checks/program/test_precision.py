"""Leaves of the state that a step rounds. The programs are made up (made_up_programs.py)."""

from grader.checks.program import precision
from grader.checks.program_subject import Subject
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program, subject

BOUNDS = precision.Bounds(groups=["params"])


def made(*rounded: tuple[int, int]) -> Subject:
    """Argument and output 0 are the leaf `w`, the only parameter; 1 are the input `x` and the loss."""
    return subject((program(EIGHT, rounded=rounded), program(EIGHT)), (program(FOUR, rounded=rounded), program(FOUR)))


def test_a_state_that_is_never_rounded_passes():
    finding = precision.check(made(), BOUNDS)
    assert (finding.passed, finding.message) == (True, "No leaf of params is rounded on its way through a step.")


def test_a_rounded_leaf_is_named_once_for_all_meshes():
    finding = precision.check(made((0, 0)), BOUNDS)
    assert (finding.passed, finding.reason) == (False, "lost_precision")
    assert finding.message == (
        "On mesh x=8, w is computed from the value that it had only after a conversion to a narrower dtype, so digits "
        "are lost in every step. Convert a copy, and compute the new value from the leaf itself."
    )
    assert [each.values for each in finding.evidence] == [{"returned": 1, "from rounded leaves": 1}] * 2


def test_many_rounded_leaves_are_counted():
    leaves = [f"params/{number}" for number in range(6)]
    assert precision._names(leaves, "params/0") == "params/1, params/2, params/3 and 2 more"
    assert precision._names(leaves[:3], "params/0") == "params/1 and params/2"


def test_inputs_and_losses_may_be_rounded():
    assert precision.check(made((0, 1), (1, 0), (1, 1)), BOUNDS).passed
