"""What sets two programs apart is said in sentences, the costliest exchange first."""

from dataclasses import replace

import pytest

from grader.program.differences import differences
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, exchange, product, program, split, whole

WHOLE = 32_768


def texts(mine: Measured, other: Measured) -> list[str]:
    return [each.text for each in differences(mine, other)]


def test_a_program_does_not_differ_from_itself():
    alike = program(EIGHT, collectives=[exchange("all-gather", WHOLE)], dots=[product()])
    assert differences(alike, alike) == ()


def test_collectives_are_compared_by_kind_and_axes_and_the_costliest_comes_first():
    mine = program(
        EIGHT, collectives=[exchange("all-reduce", 64), *[exchange("all-gather", WHOLE, source_line=14)] * 2]
    )
    other = program(EIGHT, collectives=[exchange("all-gather", WHOLE), exchange("reduce-scatter", 2 * WHOLE)])
    assert texts(mine, other) == [
        "No reduce-scatter over x; the other moves 64 KiB (its line 7).",
        "all-gather over x moves 64 KiB (line 14), 2 times the other's 32 KiB (its line 7).",
        "all-reduce over x moves 64 B (line 7); the other has none.",
    ]
    assert [each.line for each in differences(mine, other)] == [None, 14, 7]


def test_the_same_bytes_in_more_executions_are_a_difference():
    once = program(EIGHT, collectives=[exchange("all-gather", WHOLE)])
    four = program(EIGHT, collectives=[exchange("all-gather", WHOLE // 4, executions=4, loops=("while",))])
    assert texts(four, once) == [
        "all-gather over x moves the same 32 KiB in 4 executions (line 7), the other in 1 execution (its line 7)."
    ]


def test_bytes_in_a_loop_without_a_known_trip_count_are_unknown():
    unknown = program(EIGHT, collectives=[exchange("all-gather", WHOLE, executions=None, source_line=None)])
    once = program(EIGHT, collectives=[exchange("all-gather", WHOLE)])
    assert texts(unknown, once) == [
        "all-gather over x moves an unknown number of bytes, the other's 32 KiB (its line 7)."
    ]


def test_amounts_that_would_read_alike_are_exact():
    mine = program(EIGHT, collectives=[exchange("all-gather", WHOLE + 4)], temporary_bytes=100_001)
    other = program(EIGHT, collectives=[exchange("all-gather", WHOLE)])
    assert texts(mine, other) == [
        "all-gather over x moves 32,772 B (line 7), the other's 32,768 B (its line 7).",
        "Each device holds 100,001 B of temporaries, the other's 100,000 B.",
    ]


def test_leaves_that_moved_alike_are_one_sentence():
    mine = program(EIGHT, w=whole((512, 16), 8), argument_bytes=1, alias_bytes=1)
    other = program(EIGHT, argument_bytes=1, alias_bytes=1)
    leaves = [each.text for each in differences(mine, other) if each.kind == "leaves"]
    assert leaves == ["w comes in as P(), the other's as P('x').", "w comes out as P(), the other's as P('x')."]
    many = tuple(f"w{number}" for number in range(5))
    five = replace(_with_leaves(mine, 5, whole((512, 16), 8)), state=many)
    both = replace(_with_leaves(other, 5, split((512, 16), 8)), state=many)
    [text, _] = [each.text for each in differences(five, both) if each.kind == "leaves"]
    assert text == "w0, w1, w2 and 2 more come in as P(), the other's as P('x')."


def _with_leaves(measured: Measured, number: int, leaf: ProgramLeaf) -> Measured:
    return replace(measured, facts=replace(measured.facts, inputs=(leaf,) * number + measured.facts.inputs[1:]))


def test_a_dtype_is_named_where_it_differs():
    half = replace(split((512, 16), 8), dtype="bfloat16")
    leaves = [each.text for each in differences(program(EIGHT, w=half), program(EIGHT)) if each.kind == "leaves"]
    assert leaves[0] == "w comes in as bfloat16[512, 16] P('x'), the other's as float32[512, 16] P('x')."


def test_a_leaf_that_only_one_of_them_has_is_named():
    mine, other = program(EIGHT), replace(program(EIGHT), state=("v",))
    assert [each.text for each in differences(mine, other) if each.kind == "leaves"] == [
        "w comes in; the other has no such leaf.",
        "No v comes in; the other has one.",
    ]


def test_on_another_mesh_the_spec_counts_and_not_the_slices():
    assert [each for each in differences(program(EIGHT), program(FOUR)) if each.kind == "leaves"] == []
    renamed = replace(split((512, 16), 4), spec="P(None, 'x')")
    found = [each.text for each in differences(program(EIGHT), program(FOUR, w=renamed)) if each.kind == "leaves"]
    assert found[0] == "w comes in as P('x'), the other's as P(None, 'x')."


def test_more_work_names_the_line_of_most_of_it():
    mine = program(EIGHT, flops=16_000, dots=[product(4_000, 3), product(6_000, 9), product(6_000, 9)])
    [difference] = differences(mine, program(EIGHT))
    assert difference.text == (
        "Each device computes 16,000 FLOPs in matrix products (most on line 9), 2 times the other's 8,000 FLOPs."
    )
    assert (difference.kind, difference.line) == ("work", 9)
    assert texts(program(EIGHT, flops=None), program(EIGHT)) == [
        "Each device computes an unknown number of FLOPs in matrix products, the other's 8,000 FLOPs."
    ]
    assert texts(program(EIGHT, flops=4_000, dots=[product()]), program(EIGHT)) == [
        "Each device computes 4,000 FLOPs in matrix products, 0.5 times the other's 8,000 FLOPs."
    ]


@pytest.mark.parametrize(
    ("mine", "other", "text"),
    [
        (
            program(EIGHT, alias_bytes=0),
            program(EIGHT),
            "0 B on each device are overwritten in place, the other overwrites 4 KiB.",
        ),
        (
            program(EIGHT, retraced=True),
            program(EIGHT),
            "This program is traced again for inputs of the same shape, the other is not.",
        ),
        (
            program(EIGHT),
            program(EIGHT, retraced=True),
            "The other is traced again for inputs of the same shape, this program is not.",
        ),
        (
            program(EIGHT, argument_bytes=8192),
            program(EIGHT, argument_bytes=4096),
            "Each device holds 8 KiB of arguments, 2 times the other's 4 KiB.",
        ),
    ],
    ids=["donation", "traced-again", "other-traced-again", "memory"],
)
def test_what_else_may_differ(mine: Measured, other: Measured, text: str):
    assert texts(mine, other) == [text]


def test_a_ratio_that_nobody_can_picture_is_left_out():
    little, much = exchange("all-reduce", 4), exchange("all-reduce", 65_536)
    [text] = [
        each.text for each in differences(program(EIGHT, collectives=[little]), program(EIGHT, collectives=[much]))
    ]
    assert "moves 4 B (line 7), the other's 64 KiB" in text
