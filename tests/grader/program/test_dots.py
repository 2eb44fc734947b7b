"""Operations of matrix products and convolutions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.program.census import take_census
from grader.program.tokens import ProgramUnreadable
from tests.grader.program.handwritten_hlo import module

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
            2 * (2 * 8) * 3 * (16 * 3 - 2) ** 2,
        ),
        (
            "f32[2,6,10]",
            "f32[12,3,5]",
            "f32[2,12,6] convolution(%l, %r), window={size=5}, dim_labels=bf0_oi0->bf0, feature_group_count=2",
            2 * (2 * 12 * 6) * (3 * 5),
        ),
        # Batched products as the compiler for TPUs writes them.
        (
            "f32[2,8,256,128]",
            "f32[2,8,256,128]",
            "f32[2,8,256,256] convolution(%l, %r), window={size=2x8 stride=1x7 lhs_dilate=2x8}, "
            "dim_labels=01bf_01oi->01bf",
            2 * 2 * 8 * 256 * 256 * 128,
        ),
        ("f32[5,7]", "f32[7,3]", 'f32[5,3] custom-call(%l, %r), custom_call_target="__onednn$matmul"', 210),
        ("f32[7,5]", "f32[3,7]", 'f32[5,3] custom-call(%l, %r), custom_call_target="__onednn$matmul"', 210),
        ("f32[5,7]", "f32[7,3]", '(f32[5,3], s8[9]) custom-call(%l, %r), custom_call_target="__cublas$gemm"', 210),
    ],
)  # fmt: skip
def test_two_for_each_multiply_and_add(left: str, right: str, line: str, expected: int) -> None:
    assert flops(f"%l = {left} constant({{...}})", f"%r = {right} constant({{...}})", f"%d = {line}") == [expected]


@given(*(st.integers(1, 9) for _ in range(6)), st.integers(-3, 9))
def test_a_convolution_multiplies_what_meets(
    size: int, taps: int, results: int, stride: int, lhs: int, rhs: int, low: int
) -> None:
    """Compared with a list of all places that an element of the result reads."""
    window = f"window={{size={taps} stride={stride} pad={low}_0 lhs_dilate={lhs} rhs_dilate={rhs}}}"
    line = f"%d = f32[{results},1,1] convolution(%l, %r), {window}, dim_labels=0bf_0io->0bf"
    places = [at * stride + tap * rhs - low for at in range(results) for tap in range(taps)]
    there = [each for each in places if 0 <= each < size * lhs and each % lhs == 0]
    left, right = (f"f32[{number},1,1] constant({{...}})" for number in (size, taps))
    assert flops(f"%l = {left}", f"%r = {right}", line) == [2 * len(there)]


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
        "f32[5,3,1] convolution(%t3, %t3), window={size=2x2}, dim_labels=b0f_0io->b0f",
        "f32[5,3,1] convolution(%t3, %t3), window={size=2 stride=0}, dim_labels=b0f_0io->b0f",
        "f32[5,3,1] convolution(%t3, %t3), window={size=2 pad=x}, dim_labels=b0f_0io->b0f",
    ],
)
def test_a_product_that_makes_no_sense_is_refused(line: str) -> None:
    with pytest.raises(ProgramUnreadable):
        flops("%t = (f32[2], f32[2]) tuple(%p, %p)", "%t3 = f32[2,2,2] constant({...})", f"%d = {line}")
