"""How a step is written: the operations of its exported program, and whether a second step is traced again."""

import pytest
from pydantic import ValidationError

from grader.checks.program import operations, retrace
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program, subject

ADD, MULTIPLY, SCATTER = "stablehlo.add", "stablehlo.multiply", "stablehlo.scatter"


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({"required": [SCATTER, ADD]}, "does not use `.at[].set()` (stablehlo.scatter)."),
        ({"any_of": [SCATTER, MULTIPLY]}, "uses none of `.at[].set()` (stablehlo.scatter), stablehlo.multiply."),
        ({"forbidden": [ADD]}, "uses stablehlo.add."),
        ({"required": [MULTIPLY], "forbidden": [ADD]}, "does not use stablehlo.multiply and uses stablehlo.add."),
        ({"required": [ADD], "any_of": [SCATTER, ADD], "forbidden": [MULTIPLY]}, ""),
    ],
)
def test_operations_are_required_by_name(bounds: dict[str, list[str]], text: str):
    used = program(EIGHT, operations={"stablehlo.dot_general": 2, ADD: 5})
    finding = operations.check(subject((used, used)), operations.Bounds(**bounds))
    assert (finding.passed, finding.reason) == ((True, None) if not text else (False, "wrong_structure"))
    assert text in finding.message


def test_operations_are_required_on_every_mesh():
    pairs = (program(EIGHT, operations={SCATTER: 1}),) * 2, (program(FOUR), program(FOUR))
    assert not operations.check(subject(*pairs), operations.Bounds(required=[SCATTER])).passed


def test_a_name_that_no_program_can_contain_is_refused():
    with pytest.raises(ValidationError, match="no exported program can contain 'select_n'"):
        operations.Bounds(forbidden=["select_n"])


def test_products_on_explicit_axes_state_their_shardings():
    stated = (program(EIGHT), program(EIGHT))
    bounds = operations.Bounds(stated_products=True)
    assert operations.check(subject(stated), bounds).passed
    unstated = program(FOUR, unstated_products=2)
    finding = operations.check(subject(stated, (unstated, unstated)), bounds)
    assert (finding.passed, finding.reason) == (False, "wrong_structure")
    assert "leaves the sharding of 2 matrix products to the partitioner" in finding.message
    assert operations.check(subject((unstated, unstated)), operations.Bounds()).passed


@pytest.mark.parametrize("retraced", [True, None])
def test_a_second_trace_is_seen_on_any_mesh(retraced: bool | None):
    once = (program(EIGHT), program(EIGHT))
    assert retrace.check(subject(once), retrace.Bounds()).passed
    again = program(FOUR, retraced=retraced)
    finding = retrace.check(subject(once, (again, program(FOUR))), retrace.Bounds())
    assert (finding.passed, finding.reason) == (False, "retraced")
    assert "On mesh x=4" in finding.message
