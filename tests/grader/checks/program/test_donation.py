"""The state that a program overwrites in place, and the leaves that keep it from doing so."""

from dataclasses import replace

import pytest

from grader.checks.program import donation
from grader.program.facts import ProgramLeaf
from grader.verdicts.evidence import Amount
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program, split, subject, uneven, whole

# w is (512, 16) float32: 4,096 bytes on one of 8 devices.
SHARE = 4_096


def test_a_state_that_is_overwritten_in_place_is_donated():
    finding = donation.check(subject((program(EIGHT), program(EIGHT))), donation.Bounds())
    assert finding.passed
    assert finding.reason is None
    (entry,) = finding.evidence
    assert entry.mesh == EIGHT
    assert entry.rows == [Amount(name="donated state", mine=SHARE, reference=None, whole=SHARE, at_least=SHARE)]


@pytest.mark.parametrize("alias_bytes", [0, SHARE - 1])
def test_a_state_that_is_kept_beside_the_new_one_is_not_donated(alias_bytes: int):
    finding = donation.check(subject((program(EIGHT, alias_bytes=alias_bytes), program(EIGHT))), donation.Bounds())
    assert (finding.passed, finding.reason) == (False, "not_donated")
    assert "of the 4 KiB of state" in finding.message
    assert "same shape, dtype and sharding" in finding.message


@pytest.mark.parametrize(
    ("new_w", "message"),
    [
        (whole((512, 16), 8), "w comes in as P('x') and returns as P()."),
        (replace(split((512, 16), 8), dtype="bfloat16"), "w comes in as float32 and returns as bfloat16."),
        (replace(whole((512, 16), 8), dtype="bfloat16"), "w comes in as float32 P('x') and returns as bfloat16 P()."),
        (split((520, 16), 8), "w comes in as an array of shape (512, 16) and returns as one of shape (520, 16)."),
    ],
)
def test_a_leaf_that_returns_differently_is_named(new_w: ProgramLeaf, message: str):
    mine = program(EIGHT, new_w=new_w, alias_bytes=0)
    finding = donation.check(subject((mine, program(EIGHT))), donation.Bounds())
    assert finding.message.endswith(f"sharding as the old one. {message}")


def test_leaves_that_change_alike_are_named_together():
    mine = program(EIGHT, alias_bytes=0)
    old, new = mine.facts.inputs[0], whole((512, 16), 8)
    paths = ("a", "b", "c")
    facts = replace(mine.facts, inputs=(old,) * 3 + mine.facts.inputs[1:], outputs=(new,) * 3 + mine.facts.outputs[1:])
    mine = replace(mine, facts=facts, state=paths, outputs=(*paths, *mine.outputs[1:]))
    finding = donation.check(subject((mine, program(EIGHT))), donation.Bounds())
    assert finding.message.endswith("a, b and 1 more come in as P('x') and return as P().")


def test_no_more_has_to_be_donated_than_the_reference_does():
    pair = (program(EIGHT, alias_bytes=1000), program(EIGHT, alias_bytes=1000))
    finding = donation.check(subject(pair), donation.Bounds())
    assert finding.passed
    assert finding.evidence[0].rows[0].at_least == 1000


def test_donation_is_looked_at_on_every_mesh():
    pairs = (program(EIGHT), program(EIGHT)), (program(FOUR, alias_bytes=0), program(FOUR))
    finding = donation.check(subject(*pairs), donation.Bounds())
    assert not finding.passed
    assert "mesh x=4" in finding.message
    assert "mesh x=8" not in finding.message


def test_the_fullest_device_has_to_donate_its_state():
    mine = program(EIGHT, w=uneven(), alias_bytes=64)
    finding = donation.check(subject((mine, program(EIGHT))), donation.Bounds())
    assert not finding.passed
    assert "only 64 B of the 31.6 KiB of state" in finding.message
