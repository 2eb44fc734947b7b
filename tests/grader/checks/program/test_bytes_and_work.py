"""Checks of what a device holds and computes, at their bounds and just past them."""

import pytest

from grader.checks.program import donation, flops, memory, scaling, state_bytes
from grader.evidence import Amount
from grader.program.facts import Leaf
from tests.grader.checks.program.made import EIGHT, FOUR, exchange, program, split, subject, whole

# w is (512, 16) float32: 32,768 bytes whole, 4,096 on one of 8 devices.
WHOLE, SHARE = 32_768, 4_096


def test_a_state_that_is_overwritten_in_place_is_donated():
    finding = donation.check(subject((program(EIGHT), program(EIGHT))), donation.Bounds())
    assert finding.passed
    assert finding.reason is None
    (entry,) = finding.evidence
    assert entry.mesh == EIGHT
    assert entry.rows == [Amount(name="donated state", mine=SHARE, reference=None, whole=SHARE)]


@pytest.mark.parametrize("alias_bytes", [0, SHARE - 1])
def test_a_state_that_is_kept_beside_the_new_one_is_not_donated(alias_bytes: int):
    finding = donation.check(subject((program(EIGHT, alias_bytes=alias_bytes), program(EIGHT))), donation.Bounds())
    assert (finding.passed, finding.reason) == (False, "not_donated")
    assert "of the 4 KiB of state" in finding.message
    assert "same shape, dtype and sharding" in finding.message


def test_no_more_has_to_be_donated_than_the_reference_does():
    pair = (program(EIGHT, alias_bytes=1000), program(EIGHT, alias_bytes=1000))
    assert donation.check(subject(pair), donation.Bounds()).passed


def test_donation_is_looked_at_on_every_mesh():
    pairs = (program(EIGHT), program(EIGHT)), (program(FOUR, alias_bytes=0), program(FOUR))
    finding = donation.check(subject(*pairs), donation.Bounds())
    assert not finding.passed
    assert "mesh x=4" in finding.message
    assert "mesh x=8" not in finding.message


def test_a_state_on_every_device_is_too_much():
    mine = program(EIGHT, w=whole((512, 16), 8))
    finding = state_bytes.check(subject((mine, program(EIGHT))), state_bytes.Bounds())
    assert (finding.passed, finding.reason) == (False, "too_much_memory")
    assert "holds 32 KiB of state, 8 times the reference's 4 KiB" in finding.message
    assert finding.evidence[0].rows == [Amount(name="state", mine=WHOLE, reference=SHARE, whole=WHOLE, at_most=SHARE)]


def test_a_state_that_only_comes_out_whole_is_too_much_as_well():
    mine = program(EIGHT, new_w=whole((512, 16), 8))
    assert not state_bytes.check(subject((mine, program(EIGHT))), state_bytes.Bounds()).passed


@pytest.mark.parametrize("side", ["coming in", "going out"])
def test_the_fullest_device_decides(side: str):
    """One device holds 505 of the rows, and each of the others one."""
    edges = [0, 505, *range(506, 513)]
    slices = tuple(((edges[device], edges[device + 1]), (0, 16)) for device in range(8))
    uneven, even = Leaf((512, 16), "float32", "P('x')", True, slices), split((512, 16), 8)
    mine = program(EIGHT, w=uneven, new_w=even) if side == "coming in" else program(EIGHT, w=even, new_w=uneven)
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


@pytest.mark.parametrize(
    ("count", "reason", "text"),
    [
        (9_200, None, "9,200 FLOPs"),
        (9_201, "too_much_compute", "1.15 times the reference's 8,000"),
        (64_000, "too_much_compute", "Each device does the work of all 8 devices"),
        (4_000, None, "4,000 FLOPs"),
        (3_999, "wrong_structure", "cannot be counted"),
        (None, "too_much_compute", "trip count the compiler does not know"),
    ],
)
def test_the_work_of_a_device_has_two_bounds(count: int | None, reason: str | None, text: str):
    finding = flops.check(subject((program(EIGHT, flops=count), program(EIGHT, flops=8_000))), flops.Bounds())
    assert (finding.passed, finding.reason) == (reason is None, reason)
    assert text in finding.message


@pytest.mark.parametrize(("count", "named"), [(11_000, True), (64_000, False)])
def test_recomputation_is_named_if_it_may_be_the_cause(count: int, named: bool):
    finding = flops.check(subject((program(EIGHT, flops=count), program(EIGHT, flops=8_000))), flops.Bounds())
    assert not finding.passed
    assert ("`jax.checkpoint`" in finding.message) == named
    assert "expected at most 1.15 times that" in finding.message


def test_nothing_to_compute_is_compared_without_dividing_by_it():
    assert flops.check(subject((program(EIGHT, flops=0), program(EIGHT, flops=0))), flops.Bounds()).passed
    assert not flops.check(subject((program(EIGHT, flops=9), program(EIGHT, flops=0))), flops.Bounds()).passed


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
