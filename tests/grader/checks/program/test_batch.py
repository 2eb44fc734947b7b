"""Rows of the batch that move, in any shape. The program is made up (made.py): `x` is (24, 16) and is argument 1."""

from typing import Any

import pytest

from grader.checks.program import batch
from grader.program.collectives import Collective
from tests.grader.checks.program.made import EIGHT, exchange, program, subject

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
    assert finding.message.startswith("On mesh x=8, 1.5 KiB of the data of `x` moves between devices")
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
