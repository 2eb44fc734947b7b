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
        # The gradient of a kernel that moves by 2: its window loses the last place.
        (
            "f32[2,7,8]",
            "f32[2,3,4]",
            "f32[8,3,4] convolution(%l, %r), window={size=3 pad=0_-1 rhs_dilate=2}, dim_labels=f0b_i0o->b0f",
            2 * (2 * 8 * 4) * (3 * 3),
        ),
        (
            "f32[2,6,7,8]",
            "f32[2,3,4,4]",
            "f32[8,1,2,4] convolution(%l, %r), window={size=3x4 stride=1x2 pad=0_-1x-1_2 rhs_dilate=2x1}, "
            "dim_labels=f01b_i01o->b01f",
            2 * (2 * 8 * 4) * 3 * (4 + 4),
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


# 4 images of 16x16 with 8 features, a kernel of 3x3 that moves by 2 without padding, and 16 features.
IMAGES, KERNEL, FEATURES = "f32[4,16,16,8]", "f32[16,3,3,8]", "f32[4,7,7,16]"
LABELS = "dim_labels=b01f_o01i->b01f"
CONVOLUTION = 2 * 4 * 16 * 8 * (7 * 3) ** 2


@pytest.mark.parametrize(
    ("target", "left", "right", "result"),
    [
        ("convForward", IMAGES, KERNEL, FEATURES),
        ("convForwardGraph", IMAGES, KERNEL, FEATURES),
        ("convBiasActivationForward", IMAGES, KERNEL, FEATURES),
        ("convBackwardInput", FEATURES, KERNEL, IMAGES),
        ("convBackwardFilter", IMAGES, FEATURES, KERNEL),
    ],
)
def test_a_gradient_takes_as_many_flops_as_its_convolution(target: str, left: str, right: str, result: str) -> None:
    def counted(target: str) -> list[int]:
        call = f"custom-call(%l, %r), window={{size=3x3 stride=2x2}}, {LABELS}, custom_call_target"
        lines = (f"%l = {left} constant({{...}})", f"%r = {right} constant({{...}})")
        return flops(*lines, f'%d = ({result}, u8[64]) {call}="__cudnn${target}"')

    assert counted(target) == [CONVOLUTION]
    with pytest.raises(ProgramUnreadable, match=r"'d' calls '__cudnn\$convSideways', an unknown kind of convolution"):
        counted("convSideways")
    assert counted("convReorderFilter") == []


def padded_input(value: str, amounts: str = "0_0x0_0x0_1x0_1") -> tuple[int, ...]:
    """FLOPs of a convolution whose operand a fusion pads, turns around and returns beside another array."""
    pad = f"""
%padding (q: f32[4,8,16,16], z: f32[]) -> (f32[4,8,16,16], f32[4,17,17,8]) {{
  %q = f32[4,8,16,16] parameter(0)
  %zero = f32[] constant({value})
  %pad = f32[4,8,17,17] pad(%q, %zero), padding={amounts}
  %turned = f32[4,17,17,8] transpose(%pad), dimensions={{0,2,3,1}}
  ROOT %both = (f32[4,8,16,16], f32[4,17,17,8]) tuple(%q, %turned)
}}
"""
    lines = (
        "%images = f32[4,8,16,16] constant({...})",
        f"%kernel = {KERNEL} constant({{...}})",
        "%both = (f32[4,8,16,16], f32[4,17,17,8]) fusion(%images), kind=kLoop, calls=%padding",
        "%padded = f32[4,17,17,8] get-tuple-element(%both), index=1",
        f"%d = (f32[4,8,8,16], u8[0]) custom-call(%padded, %kernel), window={{size=3x3 stride=2x2}}, {LABELS}, "
        'custom_call_target="__cudnn$convForward"',
    )
    return tuple(dot.flops for dot in take_census(module(*lines, before=pad, header=ONE_DEVICE), 8).dots)


def test_zeros_that_xla_pads_for_a_library_do_not_count() -> None:
    valid, every = 2 * 4 * 16 * 8 * (8 * 3 - 1) ** 2, 2 * 4 * 16 * 8 * (8 * 3) ** 2
    assert padded_input("0") == padded_input("-0") == (valid,)
    # These are values of the program, or cannot be read.
    assert padded_input("1") == padded_input("0", "0_0x0_0x0_1") == padded_input("0", "0_0x0_0x0_1x1") == (every,)


@pytest.mark.parametrize(
    ("use", "size"),
    [
        ("f32[4,16,16,8] slice(%g), slice={[0:4], [0:16], [0:16], [0:8]}", 16),
        ("f32[4,8,16,8] slice(%g), slice={[0:4], [0:16:2], [0:16], [0:8]}", 17),
        ("f32[4,17,17,8] negate(%g)", 17),
        ("f32[4,1,1,8] slice(%g), slice={[0:4], [0:1], [0:99], [0:8]}", 17),
    ],
)
def test_what_is_cut_off_the_gradient_of_a_padded_input_does_not_count(use: str, size: int) -> None:
    """XLA makes this gradient larger than its input is, because cuDNN pads both sides alike."""
    lines = (
        "%features = f32[4,8,8,16] constant({...})",
        f"%kernel = {KERNEL} constant({{...}})",
        "%d = (f32[4,17,17,8], u8[0]) custom-call(%features, %kernel), window={size=3x3 stride=2x2}, "
        f'{LABELS}, custom_call_target="__cudnn$convBackwardInput"',
        "%g = f32[4,17,17,8] get-tuple-element(%d), index=0",
        f"%used = {use}",
    )
    meetings = 8 * 3 - (size == 16)
    assert flops(*lines) == [2 * 4 * 16 * 8 * meetings**2]


def test_other_custom_calls_are_no_products() -> None:
    assert flops('%d = f32[5,3] custom-call(%p, %p), custom_call_target="TopK"') == []


def test_a_convolution_that_would_take_long_to_count_is_refused() -> None:
    """A long kernel alone is quick to count, and so is a long result."""
    size, short = 2**21, 3
    for taps, results in ((size, short), (short, size)):
        line = f"f32[{results},1,1] convolution(%l, %r), window={{size={taps}}}, dim_labels=0bf_0io->0bf"
        arrays = f"%l = f32[{size + 2},1,1] constant({{...}})", f"%r = f32[{taps},1,1] constant({{...}})"
        assert flops(*arrays, f"%d = {line}") == [2 * size * short]
    with pytest.raises(ProgramUnreadable, match="'d' is a convolution of more than 1048576 by 1048576 elements"):
        flops(
            f"%l = f32[{2 * size},1,1] constant({{...}})",
            f"%r = f32[{size},1,1] constant({{...}})",
            f"%d = f32[{size},1,1] convolution(%l, %r), window={{size={size}}}, dim_labels=0bf_0io->0bf",
        )


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
        "f32[5,3,1] convolution(%t3, %t3), window={size=2 pad=0_-}, dim_labels=b0f_0io",
        "f32[5,3,1] convolution(%t3, %t3), window={size=}, dim_labels=b0f_0io->b0f",
    ],
)
def test_a_product_that_makes_no_sense_is_refused(line: str) -> None:
    with pytest.raises(ProgramUnreadable):
        flops("%t = (f32[2], f32[2]) tuple(%p, %p)", "%t3 = f32[2,2,2] constant({...})", f"%d = {line}")
