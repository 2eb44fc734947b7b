"""Rows of the batch that move, in any shape. The program is made up (made_up_programs.py): `x` is (24, 16) and is
argument 1.
"""

from dataclasses import replace
from typing import Any

import pytest

from grader.checks.program import batch
from grader.core.errors import GraderFault
from grader.program.collectives import Collective
from grader.program.dots import Dot
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, product, program, subject, whole

ROWS = 24 * 16 * 4


def finding_of(*collectives: Collective):
    return batch.check(subject((program(EIGHT, collectives=collectives), program(EIGHT))), batch.Bounds())


def of_x(size: int = ROWS, kind: str = "all-gather", **changes: Any) -> Collective:
    return exchange(kind, size, depends=(1,), carries=(1,), **changes)


def test_weights_and_gradients_may_move():
    assert finding_of(exchange("all-gather", 32_768), exchange("all-reduce", 32_768, depends=(0, 1), carries=())).passed


def test_the_batch_is_recognised_by_its_length():
    finding = finding_of(exchange("all-gather", ROWS, depends=(0, 1), carries=(), shapes=((24, 8),)))
    assert not finding.passed
    assert "gathers all 24 rows" in finding.message


@pytest.mark.parametrize(
    "collectives",
    [
        [of_x()],
        [of_x(ROWS // 4)] * 4,
        [of_x(ROWS // 4, executions=4, loops=("while",))],
        [of_x(kind="all-to-all")],
        [of_x(kind="collective-permute")],
        [of_x(kind="all-reduce")],
        [exchange("all-gather", ROWS, depends=(1,), carries=())],
        [exchange("all-gather", ROWS, depends=(0, 1), carries=(0, 1))],
    ],
    ids=["flat", "pieces", "loop", "all_to_all", "permute", "padded and summed", "through a constant", "with weights"],
)
def test_the_batch_is_recognised_in_another_shape(collectives: list[Collective]):
    finding = finding_of(*collectives)
    assert (finding.passed, finding.reason) == (False, "wrong_communication")
    assert finding.message.startswith("On mesh x=8, 1.5 KiB of the data in `x` moves between devices")
    assert "line 7)" in finding.message


def test_one_of_several_tensors_that_travel_together_is_enough():
    together = exchange("all-gather", ROWS, depends=(0, 1), carries=(), shapes=((3, 3), (24, 8)))
    assert "gathers all 24 rows" in finding_of(together).message


def test_what_travels_an_unknown_number_of_times_travels_at_least_once():
    assert not finding_of(of_x(executions=None, loops=("while",))).passed


@pytest.mark.parametrize(("size", "passed"), [(63, True), (64, False)])
def test_the_bound_is_the_first_size_that_counts(size: int, passed: bool):
    assert finding_of(of_x(size, shapes=((1,),))).passed == passed


def test_a_few_numbers_are_not_the_batch():
    assert finding_of(of_x(32, shapes=((1,),))).passed
    assert finding_of(exchange("all-reduce", 640, depends=(1,), carries=())).passed


@pytest.mark.parametrize(("size", "passed"), [(63, True), (64, False)])
def test_an_unknown_number_of_executions_counts_as_one(size: int, passed: bool):
    unknown = of_x(size, shapes=((1,),), executions=None, loops=("while",))
    assert finding_of(unknown).passed == passed


def test_constants_may_move():
    assert finding_of(exchange("all-gather", ROWS, depends=(), carries=())).passed


def test_without_a_bound_one_byte_counts_and_none_does_not():
    found = subject((program(EIGHT, collectives=[exchange("all-gather", 32_768)]), program(EIGHT)))
    assert batch.check(found, batch.Bounds(ignore_below=0)).passed
    found = subject((program(EIGHT, collectives=[of_x(1, shapes=((1,),))]), program(EIGHT)))
    assert not batch.check(found, batch.Bounds(ignore_below=0)).passed


def test_a_gather_after_a_reduction_counts():
    reduced = exchange("all-reduce", 640, depends=(0,), carries=())
    gathered = exchange("all-gather", ROWS, depends=(0, 1), carries=(), shapes=((24, 8),))
    assert "gathers all 24 rows" in finding_of(reduced, gathered).message


def test_a_collective_without_a_line_is_described_without_one():
    assert "moves between devices (all-gather)." in finding_of(of_x(source_line=None)).message


def computed(*mine: Dot, reference: tuple[Dot, ...] = (product(),)):
    return batch.check(subject((program(EIGHT, dots=mine), program(EIGHT, dots=reference))), batch.Bounds())


@pytest.mark.parametrize(
    "dot",
    [product(operand_shapes=((24, 16), (16, 16)), result_shape=(4, 96)), product(result_shape=(24, 16))],
    ids=["takes all rows", "gives all rows"],
)
def test_no_device_computes_on_all_rows(dot: Dot):
    finding = computed(product(), dot)
    assert (finding.passed, finding.reason) == (False, "wrong_communication")
    assert finding.message == (
        "On mesh x=8, every device computes on all 24 rows of the batch (line 9) instead of its own rows. "
        "Keep `x` sharded as P('x')."
    )


def test_products_of_its_own_rows_are_right():
    finding = computed(product())
    assert (finding.passed, finding.message) == (True, "No device sees more of the batch than its own rows.")
    assert finding.evidence[0].values == {"x": 24}


@pytest.mark.parametrize(
    "usual",
    [product(operand_shapes=((3, 24), (24, 16))), product(operand_shapes=((3, 16), (16, 24)), result_shape=(3, 24))],
    ids=["an operand", "a result"],
)
def test_a_size_that_the_reference_computes_with_is_not_recognised(usual: Dot):
    assert computed(product(result_shape=(24, 16)), reference=(usual,)).passed


def test_a_product_without_a_line_is_described_without_one():
    assert "rows of the batch instead of" in computed(product(line=None, result_shape=(24, 16))).message


def with_x(measured: Measured, leaf: ProgramLeaf, name: str = "x") -> Measured:
    facts = replace(measured.facts, inputs=(measured.facts.inputs[0], leaf))
    return replace(measured, facts=facts, inputs=(name,))


def test_a_batch_that_the_submission_does_not_take_is_still_named():
    x = program(EIGHT).facts.inputs[1]
    mine = with_x(program(EIGHT, dots=[product(result_shape=(24, 16))]), x, "y")
    assert "Keep `x` sharded over the mesh." in batch.check(subject((mine, program(EIGHT))), batch.Bounds()).message


@pytest.mark.parametrize("leaf", [whole((24, 16), 8), whole((), 8)], ids=["whole", "scalar"])
def test_a_reference_without_a_batch_is_the_packages_fault(leaf: ProgramLeaf):
    reference = with_x(program(EIGHT), leaf)
    with pytest.raises(GraderFault, match="needs an input whose dimension 0 is split"):
        batch.check(subject((program(EIGHT), reference)), batch.Bounds())


def test_inputs_are_named_in_the_package():
    found = subject((program(EIGHT), program(EIGHT)))
    assert batch.check(found, batch.Bounds(inputs=["x"])).passed
    with pytest.raises(GraderFault, match="needs an input"):
        batch.check(found, batch.Bounds(inputs=["y"]))


def test_the_batch_may_be_another_dimension():
    """Of six microbatches of 24 rows, each device has three rows of each."""
    slices = tuple(((0, 6), (3 * device, 3 * device + 3), (0, 16)) for device in range(8))
    x = ProgramLeaf((6, 24, 16), "float32", "P(None, 'x')", True, slices)
    gathered = exchange("all-gather", ROWS, depends=(0, 1), carries=(), shapes=((24, 8),))
    pair = with_x(program(EIGHT, collectives=[gathered]), x), with_x(program(EIGHT), x)
    assert "gathers all 24 rows" in batch.check(subject(pair), batch.Bounds(dimension=1)).message
    with pytest.raises(GraderFault, match="needs an input whose dimension 0 is split"):
        batch.check(subject(pair), batch.Bounds())


def test_a_batch_is_split_if_one_device_lacks_rows():
    rows = tuple(((0, 24), (0, 16)) for _ in range(7))
    leaf = ProgramLeaf((24, 16), "float32", "P('x')", True, (*rows, ((0, 3), (0, 16))))
    found = subject((with_x(program(EIGHT), leaf), with_x(program(EIGHT), leaf)))
    assert batch.check(found, batch.Bounds()).evidence[0].values == {"x": 24}
