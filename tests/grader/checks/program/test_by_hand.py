"""What the partitioner did, told from what was written in shard_map; the programs are made up, see made.py."""

from typing import Any

import pytest

from grader.checks.program import by_hand
from grader.program.facts import Asked
from tests.grader.checks.program.made import EIGHT, exchange, program, subject

WHOLE = 32_768


def finding_of(**changes: Any):
    return by_hand.check(subject((program(EIGHT, **changes), program(EIGHT))), by_hand.Bounds())


def asked(size: int = WHOLE, channel: int = 1) -> Asked:
    return Asked("all-reduce", ("f32",), channel, size)


def test_what_was_asked_for_is_by_hand():
    finding = finding_of(said=[exchange("all-reduce", WHOLE)], asked=[asked()])
    assert finding.passed
    assert finding.message == "All matrix products and collectives stand in shard_map."


def test_several_may_be_joined_to_one():
    assert finding_of(said=[exchange("all-reduce", WHOLE)], asked=[asked(WHOLE // 2), asked(WHOLE // 2, 2)]).passed


def test_a_product_outside_is_the_partitioners():
    finding = finding_of(products_outside=1)
    assert (finding.passed, finding.reason) == (False, "wrong_structure")
    assert "On mesh x=8 one matrix product stands outside of shard_map." in finding.message
    assert "8 matrix products stand" in finding_of(products_outside=8).message


@pytest.mark.parametrize(
    "changes",
    [
        {"asked": ()},
        {"asked": [asked(channel=2)]},
        {"asked": [asked(0)]},
        {"asked": [asked(4)]},
        {"asked": [Asked("reduce-scatter", ("f32",), 1, WHOLE)]},
    ],
    ids=["nothing asked", "another channel", "asked outside", "joined with a loss", "another kind"],
)
def test_an_exchange_that_nobody_asked_for_is_the_partitioners(changes: dict[str, Any]):
    finding = finding_of(said=[exchange("all-reduce", WHOLE)], **changes)
    assert (finding.passed, finding.reason) == (False, "wrong_structure")
    assert "the partitioner wrote an exchange: all-reduce of 32 KiB (line 7)" in finding.message


def test_an_all_gather_is_asked_for_by_its_shard():
    shard = Asked("all-gather", ("f32",), 1, WHOLE // 8)
    assert finding_of(said=[exchange("all-gather", WHOLE)], asked=[shard]).passed


def test_a_loss_may_be_the_partitioners():
    assert finding_of(said=[exchange("all-reduce", 4)], asked=()).passed
