"""Operations of matrix products and convolutions."""

import pytest

from grader.program.census import take_census
from grader.program.tokens import ProgramUnreadable
from tests.grader.program.written import module

ONE_DEVICE = "is_scheduled=true"


def flops(*lines: str) -> list[int]:
    return [dot.flops for dot in take_census(module(*lines, header=ONE_DEVICE), 8).dots]


@pytest.mark.parametrize(
    ("left", "right", "line", "expected"),
    [
        ("f32[5,7]", "f32[7,3]", "f32[5,3] dot(%l, %r), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 210),
        ("f32[7,5]", "f32[7,3]", "f32[5,3] dot(%l, %r), lhs_contracting_dims={0}, rhs_contracting_dims={0}", 210),
        ("f32[5]", "f32[3]", "f32[5,3] dot(%l, %r)", 2 * 5 * 3),
        ("f32[4,6]", "f32[4,6]", "f32[] dot(%l, %r), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}", 2 * 24),
        (
            "f32[4,8,16]",
            "f32[4,16,32]",
            "f32[4,8,32] dot(%l, %r), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
            "rhs_contracting_dims={1}",
            2 * 4 * 8 * 16 * 32,
        ),
        ("f32[0,7]", "f32[7,3]", "f32[0,3] dot(%l, %r), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 0),
        (
            "f32[2,16,16,3]",
            "f32[3,3,3,8]",
            "f32[2,16,16,8] convolution(%l, %r), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
            2 * (2 * 16 * 16 * 8) * (3 * 3 * 3),
        ),
        (
            "f32[2,6,10]",
            "f32[12,3,5]",
            "f32[2,12,6] convolution(%l, %r), window={size=5}, dim_labels=bf0_oi0->bf0, feature_group_count=2",
            2 * (2 * 12 * 6) * (3 * 5),
        ),
        ("f32[5,7]", "f32[7,3]", 'f32[5,3] custom-call(%l, %r), custom_call_target="__onednn$matmul"', 210),
        ("f32[7,5]", "f32[3,7]", 'f32[5,3] custom-call(%l, %r), custom_call_target="__onednn$matmul"', 210),
        ("f32[5,7]", "f32[7,3]", '(f32[5,3], s8[9]) custom-call(%l, %r), custom_call_target="__cublas$gemm"', 210),
    ],
)  # fmt: skip
def test_two_for_each_multiply_and_add(left: str, right: str, line: str, expected: int) -> None:
    assert flops(f"%l = {left} constant({{...}})", f"%r = {right} constant({{...}})", f"%d = {line}") == [expected]


def test_other_custom_calls_are_no_products() -> None:
    assert flops('%d = f32[5,3] custom-call(%p, %p), custom_call_target="TopK"') == []


@pytest.mark.parametrize(
    "line",
    [
        "f32[5,3] dot(%p), lhs_contracting_dims={1}",
        "f32[5,3] dot(%p, %p), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
        "(f32[5,3], s8[2]) dot(%p, %t), lhs_contracting_dims={1}",
        "() dot(%p, %p), lhs_contracting_dims={1}",
        "f32[5,3] convolution(%p, %p), dim_labels=b01f_01io->b01f",
        "f32[5,3] convolution(%p, %p)",
    ],
)
def test_a_product_that_makes_no_sense_is_refused(line: str) -> None:
    with pytest.raises(ProgramUnreadable):
        flops("%t = (f32[2], f32[2]) tuple(%p, %p)", f"%d = {line}")
