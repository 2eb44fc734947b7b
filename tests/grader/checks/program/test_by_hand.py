"""Collectives of the partitioner, distinguished from those written in shard_map. The programs are made up (made.py)."""

from typing import Any

import pytest

from grader.checks.program import by_hand
from grader.program.facts import WrittenCollective
from tests.grader.checks.program.made import EIGHT, exchange, program, subject

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
    assert "the partitioner inserted a collective: all-reduce of 32 KiB (line 7)" in finding.message


def test_an_all_gather_is_written_with_its_shard():
    shard = WrittenCollective("all-gather", ("f32",), 1, WHOLE // 8)
    assert finding_of(collectives=[exchange("all-gather", WHOLE)], written=[shard]).passed


def test_a_loss_may_be_the_partitioners():
    assert finding_of(collectives=[exchange("all-reduce", 4)], written=()).passed
