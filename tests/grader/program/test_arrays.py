"""The largest arrays of a program, and matrix products that are written as a multiplication and a sum."""

import pytest

from grader.program.arrays import HeldArray, largest_arrays, summed_products
from grader.program.hlo import Module, read_hlo
from tests.grader.program.handwritten_hlo import ADD

ARGUMENTS = "%x = f32[8,16] parameter(0)\n%w = f32[16,4] parameter(1)\n%zero = f32[] constant(0)"


def module(*lines: str, before: str = "") -> Module:
    body = "\n".join((ARGUMENTS, *lines))
    return read_hlo(f"HloModule test\n{ADD}\n{before}\nENTRY %main {{\n{body}\n}}\n")


def test_the_largest_comes_first_and_what_holds_nothing_is_left_out() -> None:
    found = module(
        "%wide = f32[8,64] broadcast(%x), dimensions={0,1}",
        "%same = f32[512] bitcast(%wide)",
        "%narrow = bf16[8,16] convert(%x)",
        "%pair = (f32[512], bf16[8,16]) tuple(%same, %narrow)",
        "ROOT %one = f32[512] get-tuple-element(%pair), index=0",
    )
    assert largest_arrays(found, "submission.py") == (
        HeldArray("f32", (8, 64), 2048, None),
        HeldArray("bf16", (8, 16), 256, None),
    )


def test_a_fusion_stores_its_result_alone_and_a_loop_what_its_body_computes() -> None:
    before = """
%fused (a: f32[8,16]) -> f32[8,16] {
  %a = f32[8,16] parameter(0)
  %big = f32[8,16,100] broadcast(%a), dimensions={0,1}
  ROOT %c = f32[8,16] reduce(%big, %a), dimensions={2}, to_apply=%add
}
%condition (s: (f32[8,16])) -> pred[] {
  %s = (f32[8,16]) parameter(0)
  ROOT %go = pred[] constant(true)
}
%body (t: (f32[8,16])) -> (f32[8,16]) {
  %t = (f32[8,16]) parameter(0)
  %u = f32[8,16] get-tuple-element(%t), index=0
  %twice = f32[16,16] concatenate(%u, %u), dimensions={0}
  ROOT %next = (f32[8,16]) tuple(%u)
}
"""
    found = module(
        "%f = f32[8,16] fusion(%x), kind=kLoop, calls=%fused",
        "%start = (f32[8,16]) tuple(%f)",
        "ROOT %loop = (f32[8,16]) while(%start), condition=%condition, body=%body",
        before=before,
    )
    assert [each.dims for each in largest_arrays(found, "submission.py")] == [(16, 16), (8, 16)]


FACTORS = "%a = f32[8,16,4] broadcast(%x), dimensions={0,1}", "%b = f32[8,16,4] broadcast(%w), dimensions={1,2}"
TOTAL = "ROOT %all = f32[] reduce(%m, %zero), dimensions={0,1,2}, to_apply=%add"
SUM = "ROOT %sum = f32[8,4] reduce(%m, %zero), dimensions={1}, to_apply=%add"


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ((*FACTORS, "%m = f32[8,16,4] multiply(%a, %b)", SUM), 1),
        ((*FACTORS, "%p = f32[8,16,4] multiply(%a, %b)", "%m = f32[8,16,4] copy(%p)", SUM), 1),
        # A mean of squares, a row that scales, and a sum of differences are not matrix products.
        (("%m = f32[8,16] multiply(%x, %x)", "ROOT %sum = f32[8] reduce(%m, %zero), dimensions={1}, to_apply=%add"), 0),
        ((FACTORS[0], "%m = f32[8,16,4] multiply(%a, %a2)", "%a2 = f32[8,16,4] iota(), iota_dimension=0", SUM), 0),
        ((*FACTORS, "%m = f32[8,16,4] subtract(%a, %b)", SUM), 0),
        ((*FACTORS, "%m = f32[8,16,4] multiply(%a, %b)", TOTAL), 0),
    ],
    ids=["product", "moved", "squares", "one factor", "difference", "a number"],
)  # fmt: skip
def test_a_product_is_a_sum_of_products_of_two_repeated_arrays(lines: tuple[str, ...], number: int) -> None:
    assert len(summed_products(module(*lines), "submission.py")) == number
