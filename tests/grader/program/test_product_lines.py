"""Lines of matrix products whose instructions have lost them, in text written by hand."""

from collections.abc import Mapping

import pytest

from grader.program.hlo import read_hlo
from grader.program.nearby_lines import NearbyLines
from grader.program.product_lines import lines_of_products
from grader.program.stablehlo import read_stablehlo
from tests.grader.program.handwritten_hlo import module

FUSED = """
%product (x: f32[16,4], y: f32[4,4]) -> f32[16,4] {
  %x = f32[16,4] parameter(0)
  %y = f32[4,4] parameter(1)
  ROOT %d = f32[16,4] dot(%x, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def at(line: int) -> str:
    return f', metadata={{source_file="submission.py" source_line={line}}}'


def lines_of(*lines: str, written: Mapping[int, int]) -> list[int | None]:
    is_fused = any("calls=%product" in line for line in lines)
    program = read_hlo(module(*lines, before=FUSED if is_fused else ""))
    return list(lines_of_products(program, NearbyLines(program, "submission.py"), written).values())


MADE = f"%w = f32[4,4] iota(), iota_dimension=0{at(1)}"
DOT = "f32[16,4] dot(%p, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
CALL = "f32[16,4] fusion(%p, %w), kind=kCustom, calls=%product"
USED = f"%u = f32[16,4] tanh(%d){at(6)}"


@pytest.mark.parametrize(
    ("lines", "written", "found"),
    [
        # Its own line counts more than anything else.
        ([MADE, f"%d = {DOT}{at(4)}", USED], {6: 1}, [4]),
        # The line of the fusion around it, and of what uses that fusion.
        ([MADE, f"%d = {CALL}{at(5)}", USED], {5: 1}, [5]),
        ([MADE, f"%d = {CALL}", USED], {6: 1}, [6]),
        # Line 6 uses the product, but line 5 wrote the only one.
        ([MADE, f"%d = {CALL}", USED], {5: 1}, [5]),
        # Line 3 wrote one product, which still has its line, so the nearest line with another one is 6.
        (
            [MADE, f"%q = {DOT}{at(3)}", f"%d = {DOT.replace('%p', '%n')}", USED],
            {3: 1, 6: 1},
            [3, 6],
        ),
        # Nothing says which lines wrote products.
        ([MADE, f"%d = {CALL}", USED], {}, [6]),
        ([MADE, f"%d = {CALL}"], {}, [None]),
        # Lines 5 and 7 are as likely, so the one nearby is shown.
        ([MADE, f"%d = {CALL}", USED], {5: 1, 7: 1}, [6]),
    ],
)
def test_a_product_without_a_line_gets_the_nearest_that_wrote_one(
    lines: list[str], written: Mapping[int, int], found: list[int | None]
) -> None:
    near = f"%n = f32[16,4] negate(%p){at(3)}"
    assert lines_of(near, *lines, written=written) == found


def test_products_of_an_exported_program_are_counted_by_line() -> None:
    text = """
#loc1 = loc("submission.py":5:8 to :13)
#loc2 = loc("/lib/jax.py":9:1)
module @m {
  func.func public @main(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = call @inner(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(#loc2)
    %1 = call @inner(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(#loc2)
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(#loc2)
    return %2 : tensor<4x4xf32> loc(#loc2)
  } loc(#loc2)
  func.func private @inner(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(#loc3)
    return %0 : tensor<4x4xf32> loc(#loc2)
  } loc(#loc2)
} loc(#loc)
#loc3 = loc("dot_general"(#loc4))
#loc4 = loc(callsite(#loc1 at #loc2))
"""  # noqa: E501
    assert read_stablehlo(text).product_lines == {5: 2}
