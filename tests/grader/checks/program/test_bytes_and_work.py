"""Checks of what a device holds and computes, at their bounds and just past them."""

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from grader.checks.program import by_hand, collectives, flops, init_memory, memory, scaling, state_bytes
from grader.checks.program_subject import Pair, Subject
from grader.core.errors import GraderFault
from grader.program.arrays import HeldArray, SummedProduct
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured
from grader.verdicts.evidence import Amount
from tests.grader.checks.program.made_up_programs import (
    EIGHT,
    FOUR,
    exchange,
    product,
    program,
    split,
    subject,
    uneven,
    whole,
)

# w is (512, 16) float32: 32,768 bytes whole, 4,096 on one of 8 devices.
WHOLE, SHARE = 32_768, 4_096


def test_a_state_on_every_device_is_too_much():
    mine = program(EIGHT, w=whole((512, 16), 8))
    finding = state_bytes.check(subject((mine, program(EIGHT))), state_bytes.Bounds())
    assert (finding.passed, finding.reason) == (False, "too_much_memory")
    assert "holds 32 KiB of state, 8 times the reference's 4 KiB" in finding.message
    assert finding.evidence[0].rows == [Amount(name="state", mine=WHOLE, reference=SHARE, whole=WHOLE, at_most=SHARE)]


def test_a_state_that_only_comes_out_whole_is_too_much_as_well():
    mine = program(EIGHT, new_w=whole((512, 16), 8))
    assert not state_bytes.check(subject((mine, program(EIGHT))), state_bytes.Bounds()).passed


@pytest.mark.parametrize(("w", "replicated"), [(split((2048, 16), 8), False), (whole((2048, 16), 8), True)])
@pytest.mark.parametrize("module", [state_bytes, memory], ids=["state_bytes", "memory"])
def test_a_larger_state_is_not_taken_for_a_replicated_one(module: ModuleType, w: ProgramLeaf, replicated: bool):
    finding = module.check(subject((program(EIGHT, w=w), program(EIGHT))), module.Bounds())
    assert "Your whole state takes 128 KiB, and the reference's takes 32 KiB: leaves have more" in finding.message
    assert ("replicated" in finding.message or "its own share" in finding.message) == replicated


@pytest.mark.parametrize("side", ["coming in", "going out"])
def test_the_fullest_device_decides(side: str):
    odd, even = uneven(), split((512, 16), 8)
    mine = program(EIGHT, w=odd, new_w=even) if side == "coming in" else program(EIGHT, w=even, new_w=odd)
    finding = state_bytes.check(subject((mine, program(EIGHT))), state_bytes.Bounds())
    assert (finding.passed, finding.reason) == (False, "too_much_memory")
    assert finding.evidence[0].rows[0].mine == 505 * 16 * 4


@pytest.mark.parametrize(("at_most", "passed"), [(8.0, True), (7.9, False)])
def test_the_bound_on_the_state_is_a_multiple_of_the_reference(at_most: float, passed: bool):
    found = subject((program(EIGHT, w=whole((512, 16), 8)), program(EIGHT)))
    assert state_bytes.check(found, state_bytes.Bounds(at_most=at_most)).passed == passed


@pytest.mark.parametrize(("temporary_bytes", "passed"), [(154_096, True), (154_097, False)])
def test_scratch_may_be_half_more_and_a_page(temporary_bytes: int, passed: bool):
    found = subject((program(EIGHT, temporary_bytes=temporary_bytes), program(EIGHT, temporary_bytes=100_000)))
    finding = memory.check(found, memory.Bounds())
    assert finding.passed == passed
    assert passed or (finding.reason == "too_much_memory" and "temporaries take" in finding.message)


def test_arguments_have_a_bound_of_their_own():
    found = subject((program(EIGHT, argument_bytes=WHOLE), program(EIGHT, argument_bytes=SHARE)))
    finding = memory.check(found, memory.Bounds())
    assert not finding.passed
    assert "Each device receives more of the state than its own share." in finding.message


def test_constants_count_as_arguments():
    usual = program(EIGHT, constant_bytes=100)
    assert memory.check(subject((program(EIGHT, constant_bytes=4_000), usual)), memory.Bounds()).passed
    finding = memory.check(subject((program(EIGHT, constant_bytes=1 << 24), usual)), memory.Bounds())
    assert (finding.passed, finding.reason) == (False, "too_much_memory")
    assert "arguments take 16 MiB on each device" in finding.message
    assert "16 MiB of that are constants of the program" in finding.message


def test_memory_is_listed_with_its_bounds():
    """A device holds 4,096 bytes of `w` and 192 of `x`, of 32,768 and 1,536."""
    mine = program(EIGHT, constant_bytes=100, temporary_bytes=90_000)
    finding = memory.check(subject((mine, program(EIGHT, constant_bytes=50))), memory.Bounds())
    assert finding.evidence[0].rows == [
        Amount(name="arguments", mine=4_388, reference=4_338, whole=34_304, at_most=8_520),
        Amount(name="outputs", mine=4_100, reference=4_100, whole=None),
        Amount(name="temporaries", mine=90_000, reference=100_000, whole=None, at_most=154_096),
    ]
    assert finding.message == "Each device needs 4.29 KiB for arguments and constants, and 87.9 KiB for temporaries."


@pytest.mark.parametrize(("argument_bytes", "passed"), [(8_469, True), (8_470, False)])
def test_arguments_may_be_a_little_more_and_a_page(argument_bytes: int, passed: bool):
    found = subject((program(EIGHT, argument_bytes=argument_bytes), program(EIGHT)))
    assert memory.check(found, memory.Bounds()).passed == passed


@pytest.mark.parametrize(("constants", "named"), [(4_096, False), (4_097, True)])
def test_constants_are_named_if_they_are_more_than_a_page(constants: int, named: bool):
    usual = program(EIGHT, constant_bytes=1_000)
    mine = program(EIGHT, argument_bytes=9_000, constant_bytes=1_000 + constants)
    message = memory.check(subject((mine, usual)), memory.Bounds()).message
    assert ("of that are constants of the program" in message) == named


def test_many_constants_do_not_explain_many_temporaries():
    mine = program(EIGHT, constant_bytes=1 << 24, temporary_bytes=1 << 24)
    arguments, temporaries = memory.check(subject((mine, program(EIGHT))), memory.Bounds()).message.split("\n")
    assert "are constants of the program" in arguments
    assert temporaries.endswith("at most 1.5 times that is allowed.")


GATHERED = HeldArray("f32", (64, 192), 49_152, 12)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ([GATHERED], "The largest array that the reference does not have is float32[64, 192] (48 KiB, line 12)."),
        (
            [HeldArray("bf16", (128, 192), 49_152, None), GATHERED, HeldArray("f32", (8,), 32, 3)],
            "The largest arrays that the reference does not have are float32[64, 192] (48 KiB, line 12) and "
            "bfloat16[128, 192] (48 KiB).",
        ),
        # One form with two lines, of which the reference has as many: there are more of them.
        (
            [HeldArray("f32", (8,), 32, None), HeldArray("f32", (8,), 32, 3)],
            "The largest array is float32[8] (32 B, line 3).",
        ),
    ],
    ids=["one", "two", "the reference's"],
)
def test_the_largest_arrays_are_named(arrays: list[HeldArray], said: str):
    mine = program(EIGHT, temporary_bytes=1 << 24, largest_arrays=arrays)
    usual = program(EIGHT, largest_arrays=[HeldArray("f32", (8,), 32, 9)])
    assert memory.check(subject((mine, usual)), memory.Bounds()).message.endswith(said)


@pytest.mark.parametrize(
    ("count", "reason", "text"),
    [
        (9_200, None, "9,200 FLOPs"),
        (9_201, "too_much_compute", "1.15 times the reference's 8,000"),
        (64_000, "too_much_compute", "Each device does the work of all 8 devices"),
        (4_000, None, "4,000 FLOPs"),
        (3_999, "wrong_structure", "Look for a product that is left out"),
        (None, "too_much_compute", "trip count the compiler does not know"),
    ],
)
def test_the_work_of_a_device_has_two_bounds(count: int | None, reason: str | None, text: str):
    finding = flops.check(subject((program(EIGHT, flops=count), program(EIGHT, flops=8_000))), flops.Bounds())
    assert (finding.passed, finding.reason) == (reason is None, reason)
    assert text in finding.message


@pytest.mark.parametrize(
    ("line", "said"), [(12, "and a sum (line 12) cannot be counted"), (None, "and a sum cannot be")]
)
def test_a_product_that_cannot_be_counted_is_named_if_there_is_one(line: int | None, said: str):
    mine = program(EIGHT, flops=0, summed_products=[SummedProduct(line)])
    assert said in flops.check(subject((mine, program(EIGHT))), flops.Bounds()).message


@pytest.mark.parametrize(("count", "named"), [(11_000, True), (64_000, False)])
def test_recomputation_is_named_if_it_may_be_the_cause(count: int, named: bool):
    finding = flops.check(subject((program(EIGHT, flops=count), program(EIGHT, flops=8_000))), flops.Bounds())
    assert not finding.passed
    assert ("`jax.checkpoint`" in finding.message) == named
    assert "expected at most 1.15 times that" in finding.message


def test_nothing_to_compute_is_compared_without_dividing_by_it():
    assert flops.check(subject((program(EIGHT, flops=0), program(EIGHT, flops=0))), flops.Bounds()).passed
    assert not flops.check(subject((program(EIGHT, flops=9), program(EIGHT, flops=0))), flops.Bounds()).passed


def test_work_is_listed_with_its_bound():
    finding = flops.check(subject((program(EIGHT, flops=7_000), program(EIGHT, flops=8_000))), flops.Bounds())
    assert finding.evidence[0].rows == [
        Amount(name="matrix products", mine=7_000, reference=8_000, whole=64_000, at_least=4_000, at_most=9_200)
    ]


@pytest.mark.parametrize(("count", "everything"), [(51_200, False), (51_201, True), (79_999, True), (80_000, False)])
def test_about_the_work_of_all_devices_is_recognised(count: int, everything: bool):
    finding = flops.check(subject((program(EIGHT, flops=count), program(EIGHT, flops=8_000))), flops.Bounds())
    assert ("Each device does the work of all 8 devices" in finding.message) == everything


def test_the_three_most_expensive_lines_are_named():
    """A product runs forward and backward on one line; one whose number of executions is unknown counts nothing."""
    dots = [
        product(100, 3),
        product(1_000, 9),
        product(500, 9, executions=4),
        product(2_000, 5),
        product(9_000, None),
        product(9_000, 4, executions=None),
        product(700, 7),
    ]
    mine = program(EIGHT, flops=20_000, dots=dots)
    finding = flops.check(subject((mine, program(EIGHT, flops=8_000))), flops.Bounds())
    assert finding.message.endswith(" Most are on line 9 (3,000), line 5 (2,000), line 7 (700).")


def test_work_without_lines_is_described_without_them():
    mine = program(EIGHT, flops=20_000, dots=[product(20_000, None)])
    finding = flops.check(subject((mine, program(EIGHT, flops=8_000))), flops.Bounds())
    assert finding.message.endswith("and for padded or repeated arrays.")


def meshes(mine_on_four: dict, *, mine_on_eight: dict | None = None):
    eight = {"collectives": [exchange("all-gather", WHOLE)], "flops": 8_000}
    four = {"collectives": [exchange("all-gather", WHOLE, 4)], "flops": 16_000}
    return subject(
        (program(EIGHT, **eight | (mine_on_eight or {})), program(EIGHT, **eight)),
        (program(FOUR, **four | mine_on_four), program(FOUR, **four)),
    )


def test_what_scales_as_the_reference_does_passes():
    finding = scaling.check(meshes({}), scaling.Bounds())
    assert finding.passed
    (entry,) = finding.evidence
    assert [factor.mine for factor in entry.factors] == [factor.reference for factor in entry.factors]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"flops": 8_000}, "the FLOPs of each device stay the same; in the reference, they change by a factor of 2"),
        ({"flops": None}, "a factor that cannot be determined"),
        ({"collectives": [exchange("all-gather", 4 * WHOLE, 4)]}, "the bytes that each device sends"),
        ({"w": split((512, 16), 4), "argument_bytes": 60_000}, "the argument bytes on each device"),
    ],
)
def test_a_fixed_number_of_devices_is_found(change: dict, what: str):
    finding = scaling.check(meshes(change), scaling.Bounds())
    assert (finding.passed, finding.reason) == (False, "wrong_communication")
    assert what.lower() in finding.message.lower()
    assert "mesh.shape" in finding.message


def test_twice_the_work_on_both_meshes_still_scales():
    """Another check reports that it is too much."""
    assert scaling.check(meshes({"flops": 32_000}, mine_on_eight={"flops": 16_000}), scaling.Bounds()).passed


@pytest.mark.parametrize(
    ("mine", "reference", "passed"),
    [
        ((8_000, 17_500), (8_000, 16_000), True),
        ((8_000, 17_700), (8_000, 16_000), False),
        ((8_000, 4_640), (8_000, 4_000), True),
        ((8_000, 5_200), (8_000, 4_000), False),
        ((8_000, 88_000), (8_000, 80_000), True),
        ((8_000, 88_100), (8_000, 80_000), False),
        ((0, 0), (8_000, 8_000), True),
        ((0, 8_000), (8_000, 8_000), False),
        ((None, 8_000), (8_000, 8_000), False),
    ],
)
def test_a_factor_may_differ_by_a_tenth(mine: tuple[int, int], reference: tuple[int, int], passed: bool):
    """Of the reference's factor, or of 1 where that is smaller."""
    pairs = [
        (program(mesh, flops=mine[number]), program(mesh, flops=reference[number]))
        for number, mesh in enumerate((EIGHT, FOUR))
    ]
    assert scaling.check(subject(*pairs), scaling.Bounds()).passed == passed


@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({"executions": 2, "ring_bytes": 12_288, "loops": ("while",)}, True),
        ({"executions": None, "loops": ("while",)}, False),
    ],
)
def test_bytes_are_those_of_all_executions(changes: dict, passed: bool):
    """The reference sends 24,576 bytes on this mesh."""
    found = meshes({"collectives": [exchange("all-gather", WHOLE, 4, **changes)]})
    assert scaling.check(found, scaling.Bounds()).passed == passed


def test_bytes_that_cannot_be_counted_on_any_mesh_do_not_scale():
    uncounted = [exchange("all-gather", WHOLE, 4, executions=None, loops=("while",))]
    pairs = [(program(mesh, collectives=uncounted), program(mesh)) for mesh in (EIGHT, FOUR)]
    finding = scaling.check(subject(*pairs), scaling.Bounds())
    assert not finding.passed
    assert "the bytes that each device sends change by a factor that cannot be determined" in finding.message


@pytest.mark.parametrize(("size", "passed"), [(63, True), (64, False)])
def test_a_small_collective_on_one_mesh_is_ignored(size: int, passed: bool):
    small = program(EIGHT, collectives=[exchange("all-reduce", size)])
    found = subject((small, program(EIGHT)), (program(FOUR, flops=8_000), program(FOUR, flops=8_000)))
    assert scaling.check(found, scaling.Bounds()).passed == passed


def test_a_fault_is_described_with_both_meshes():
    message = scaling.check(meshes({"flops": 8_000}), scaling.Bounds()).message
    assert message.startswith("From mesh x=8 to mesh x=4, the FLOPs of each device stay the same; in the reference")


def test_programs_are_compared_between_meshes_for_the_same_cases():
    """The programs of the second case take twice the work, on both meshes."""
    work = {("a", 8): 8_000, ("b", 8): 16_000, ("a", 4): 16_000, ("b", 4): 32_000}
    pairs = tuple(
        Pair(*(program(mesh, flops=work[case, mesh["x"]]) for _ in range(2)), (case,))
        for mesh in (EIGHT, FOUR)
        for case in ("a", "b")
    )
    finding = scaling.check(Subject(subject().spec, {}, pairs, ()), scaling.Bounds())
    assert finding.passed
    assert [(entry.mesh, entry.cases, entry.factors[2].mine) for entry in finding.evidence] == [
        (FOUR, ["a"], 2.0),
        (FOUR, ["b"], 2.0),
    ]


BOUNDS = [
    (memory.Bounds, {"arguments_at_most": 1.0, "temporaries_at_most": 1.0}, -1),
    (state_bytes.Bounds, {"at_most": 1.0}, -1),
    (init_memory.Bounds, {"at_most": 1.0}, -1),
    (flops.Bounds, {"at_least": 0.0, "at_most": 1.0}, -1),
    (flops.Bounds, {"at_least": 1.0}, 1),
    (by_hand.Bounds, {"ignore_below": 0}, -1),
    (collectives.Bounds, {"ignore_below": 0}, -1),
]


@pytest.mark.parametrize(("bounds", "values", "step"), BOUNDS, ids=lambda value: getattr(value, "__module__", None))
def test_a_package_may_set_a_bound_up_to_its_limit(bounds: type[Any], values: dict[str, float], step: int):
    kept = bounds(**values)
    for name, value in values.items():
        assert getattr(kept, name) == value
        with pytest.raises(ValueError, match=name):
            bounds(**values | {name: value + step})
        with pytest.raises(ValueError, match=name):
            bounds(**values | {name: str(value)})
    with pytest.raises(ValueError, match="frozen"):
        setattr(kept, next(iter(values)), 2)


def test_nothing_is_written_as_zero():
    empty = program(EIGHT, w=split((0, 16), 8), flops=0, argument_bytes=0, temporary_bytes=0)
    pair = subject((empty, empty))
    assert state_bytes.check(pair, state_bytes.Bounds()).message == "Each device holds 0 B of the 0 B state."
    assert flops.check(pair, flops.Bounds()).message == "Each device computes 0 FLOPs in matrix products."
    message = memory.check(pair, memory.Bounds()).message
    assert message == "Each device needs 0 B for arguments and constants, and 0 B for temporaries."
    more = subject((program(EIGHT, temporary_bytes=5_000), empty))
    assert (
        "temporaries take 4.88 KiB on each device; the reference takes 0 B"
        in memory.check(more, memory.Bounds()).message
    )


def with_init(output_bytes: int, temporary_bytes: int, *arrays: HeldArray) -> Measured:
    made = program(EIGHT, largest_arrays=list(arrays))
    held = replace(made.facts.memory, output_bytes=output_bytes, temporary_bytes=temporary_bytes)
    return replace(made, init=replace(made.facts, memory=held))


@pytest.mark.parametrize(
    ("mine", "passed"), [((6_000, 0), True), ((0, 6_000), True), ((4_000, 2_000), True), ((4_000, 2_001), False)]
)
def test_the_state_may_take_half_more_while_it_is_created(mine: tuple[int, int], passed: bool):
    finding = init_memory.check(subject((with_init(*mine), with_init(3_000, 1_000))), init_memory.Bounds())
    assert (finding.passed, finding.reason) == (passed, None if passed else "too_much_memory")
    assert finding.evidence[0].rows == [
        Amount(name="init", mine=sum(mine), reference=4_000, whole=WHOLE, at_most=6_000)
    ]


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        ((3_000, 9_000), "The state that it returns is split, but creating it takes more"),
        ((3_001, 9_000), "Split each leaf inside"),
        ((30_000, 1_000), "The state that it returns takes 29.3 KiB on a device; the reference's takes 2.93 KiB."),
    ],
    ids=["before", "barely", "the state"],
)
def test_the_message_says_whether_the_state_or_what_comes_before_is_too_large(mine: tuple[int, int], said: str):
    finding = init_memory.check(subject((with_init(*mine), with_init(3_000, 1_000))), init_memory.Bounds())
    assert not finding.passed
    assert said in finding.message


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (
            HeldArray("f32", (512, 16), 32_768, 12),
            "A device holds float32[512, 16] (32 KiB, line 12), the whole shape of w.",
        ),
        (
            HeldArray("bf16", (512, 16), 16_384, 12),
            "The largest array that the reference does not have is bfloat16[512, 16]",
        ),
        (HeldArray("f32", (64, 16), 4_096, 12), "creating it takes more. The largest array is float32[64, 16]"),
    ],
    ids=["a leaf", "another dtype", "one that the reference has"],
)
def test_the_message_names_what_is_whole_while_the_state_is_created(array: HeldArray, said: str):
    usual = with_init(3_000, 1_000, HeldArray("f32", (64, 16), 4_096, 9))
    finding = init_memory.check(subject((with_init(3_000, 9_000, array), usual)), init_memory.Bounds())
    assert said in finding.message
    assert "Split each array inside" in finding.message


def test_a_state_without_bytes_is_created_without_memory():
    finding = init_memory.check(subject((with_init(0, 0), with_init(0, 0))), init_memory.Bounds())
    assert finding.message == "No device holds more than 0 B while `init` runs."


def test_a_larger_state_takes_more_memory_in_init():
    """Four times the bytes on a device, and four times the whole."""
    larger = replace(with_init(12_000, 1_000), facts=program(EIGHT, w=split((2048, 16), 8)).facts)
    finding = init_memory.check(subject((larger, with_init(3_000, 1_000))), init_memory.Bounds())
    assert "Your whole state takes 128 KiB" in finding.message
    assert "Split each leaf" not in finding.message


@pytest.mark.parametrize("number", [0, 1])
def test_memory_of_init_needs_both_programs(number: int):
    pair = [with_init(1, 1), with_init(1, 1)]
    pair[number] = program(EIGHT)
    with pytest.raises(GraderFault, match=r"program\.export_init"):
        init_memory.check(subject((pair[0], pair[1])), init_memory.Bounds())
