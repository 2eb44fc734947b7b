"""Collectives of the partitioner, distinguished from those written in shard_map. The programs are made up
(made_up_programs.py).
"""

from typing import Any

import pytest

from grader.checks.program import by_hand
from grader.program.facts import WrittenCollective
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, program, subject

WHOLE = 32_768


def finding_of(**changes: Any):
    return by_hand.check(subject((program(EIGHT, **changes), program(EIGHT))), by_hand.Bounds())


def written(size: int = WHOLE, channel: int = 1) -> WrittenCollective:
    return WrittenCollective("all-reduce", ("f32",), channel, size)


def test_collectives_of_the_submission_are_by_hand():
    finding = finding_of(collectives=[exchange("all-reduce", WHOLE)], written=[written()])
    assert finding.passed
    assert finding.message == "All matrix products and collectives are inside shard_map."


def test_several_may_be_merged_into_one():
    assert finding_of(
        collectives=[exchange("all-reduce", WHOLE)], written=[written(WHOLE // 2), written(WHOLE // 2, 2)]
    ).passed


def test_a_product_outside_is_the_partitioners():
    finding = finding_of(products_outside=1)
    assert (finding.passed, finding.reason) == (False, "wrong_structure")
    assert "On mesh x=8, one matrix product is outside shard_map." in finding.message
    assert "8 matrix products are" in finding_of(products_outside=8).message


@pytest.mark.parametrize(
    "changes",
    [
        {"written": ()},
        {"written": [written(channel=2)]},
        {"written": [written(0)]},
        {"written": [written(4)]},
        {"written": [WrittenCollective("reduce-scatter", ("f32",), 1, WHOLE)]},
    ],
    ids=["none written", "another channel", "written outside", "merged with a loss", "another kind"],
)
def test_a_collective_that_the_submission_lacks_is_the_partitioners(changes: dict[str, Any]):
    finding = finding_of(collectives=[exchange("all-reduce", WHOLE)], **changes)
    assert (finding.passed, finding.reason) == (False, "wrong_structure")
    assert "XLA's partitioner inserted one all-reduce of 32 KiB (line 7)" in finding.message


@pytest.mark.parametrize(("channel", "number", "passed"), [(9, 1, True), (9, 2, False), (1, 2, True)])
def test_small_ones_of_the_partitioner_count_together(channel: int, number: int, passed: bool):
    small = exchange("all-reduce", 32, channel=channel)
    assert finding_of(collectives=[small] * number, written=[written(32)]).passed == passed


def test_an_all_gather_is_written_with_its_shard():
    shard = WrittenCollective("all-gather", ("f32",), 1, WHOLE // 8)
    assert finding_of(collectives=[exchange("all-gather", WHOLE)], written=[shard]).passed


def test_bfloat16_is_widened_when_it_is_compiled():
    """A compiled collective of float32 has twice the bytes of the written one, and still is the submission's."""
    assert finding_of(
        collectives=[exchange("all-reduce", WHOLE)],
        written=[WrittenCollective("all-reduce", ("bf16",), 1, WHOLE // 2)],
    ).passed
    assert not finding_of(
        collectives=[exchange("all-reduce", WHOLE)],
        written=[WrittenCollective("all-reduce", ("bf16", "f32"), 1, WHOLE // 2)],
    ).passed


def test_float16_is_not_widened():
    assert not finding_of(
        collectives=[exchange("all-reduce", WHOLE)],
        written=[WrittenCollective("all-reduce", ("f16",), 1, WHOLE // 2)],
    ).passed


def test_a_loss_may_be_the_partitioners():
    assert finding_of(collectives=[exchange("all-reduce", 4)], written=()).passed


@pytest.mark.parametrize(
    ("size", "changes", "passed"),
    [
        (63, {}, True),
        (64, {}, False),
        (16, {"executions": 3, "loops": ("while",)}, True),
        (16, {"executions": 4, "loops": ("while",)}, False),
        (63, {"executions": None, "loops": ("while",)}, True),
        (64, {"executions": None, "loops": ("while",)}, False),
    ],
)
def test_the_bytes_of_all_executions_decide_whether_a_collective_counts(size: int, changes: dict, passed: bool):
    assert finding_of(collectives=[exchange("all-reduce", size, **changes)]).passed == passed


def test_a_group_of_one_device_communicates_nothing():
    assert finding_of(collectives=[exchange("all-reduce", WHOLE, 1)]).passed


def test_a_large_collective_after_a_small_one_counts():
    assert not finding_of(collectives=[exchange("all-reduce", 4), exchange("all-reduce", WHOLE)]).passed


def test_a_collective_without_a_channel_is_not_vouched_for():
    unnumbered = WrittenCollective("all-reduce", ("f32",), None, WHOLE)
    assert not finding_of(collectives=[exchange("all-reduce", WHOLE, channel=None)], written=[unnumbered]).passed


@pytest.mark.parametrize(("more", "passed"), [(64, True), (65, False)])
def test_a_kind_may_move_a_little_more_than_the_submission_wrote(more: int, passed: bool):
    merged = [exchange("all-reduce", WHOLE), exchange("all-reduce", more)]
    assert finding_of(collectives=merged, written=[written()]).passed == passed


def test_a_collective_without_a_line_is_described_without_one():
    message = finding_of(collectives=[exchange("all-reduce", WHOLE, source_line=None)]).message
    assert "inserted one all-reduce of 32 KiB. It does so" in message


def test_the_first_collective_of_the_partitioner_is_described_and_all_are_counted():
    finding = finding_of(collectives=[exchange("all-gather", WHOLE), exchange("all-reduce", WHOLE)])
    assert "inserted one all-gather" in finding.message
    assert finding.evidence[0].values == {"matrix products": 0, "collectives that the partitioner inserted": 2}


def test_a_kind_that_the_submission_does_not_write_may_move_as_little():
    """Its channel is that of another kind, with which XLA merged nothing."""
    other = WrittenCollective("reduce-scatter", ("f32",), 1, WHOLE)
    assert finding_of(collectives=[exchange("all-reduce", 64)], written=[other]).passed
    assert not finding_of(collectives=[exchange("all-reduce", 65)], written=[other]).passed
