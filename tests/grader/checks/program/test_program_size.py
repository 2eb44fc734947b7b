"""How many matrix products a program contains, at the bounds and just past them."""

import pytest

from grader.checks.program import program_size
from grader.program.arrays import SummedProduct
from tests.grader.checks.program.made_up_programs import EIGHT, product, program, subject

IN_A_LOOP = product(loops=("while.1",), executions=12)


@pytest.mark.parametrize(
    ("copies", "at_most", "passed"), [(1, 1.0, True), (2, 1.0, False), (2, 2.0, True), (3, 2.0, False)]
)
def test_each_copy_of_a_product_counts(copies: int, at_most: float, passed: bool):
    mine = program(EIGHT, dots=[IN_A_LOOP] * copies)
    finding = program_size.check(
        subject((mine, program(EIGHT, dots=[IN_A_LOOP]))), program_size.Bounds(at_most=at_most)
    )
    assert finding.passed == passed
    assert finding.reason == (None if passed else "program_too_large")


def test_a_loop_counts_once_however_often_it_runs():
    mine = program(EIGHT, dots=[product(loops=("while.1",), executions=500)])
    assert program_size.check(subject((mine, program(EIGHT, dots=[IN_A_LOOP]))), program_size.Bounds()).passed


def test_a_product_written_as_a_sum_counts_as_well():
    mine = program(EIGHT, dots=[IN_A_LOOP], summed_products=[SummedProduct(4)])
    finding = program_size.check(subject((mine, program(EIGHT, dots=[IN_A_LOOP]))), program_size.Bounds())
    assert "contains 2 matrix products; expected at most 1" in finding.message
