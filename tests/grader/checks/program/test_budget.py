"""All that a device sends, beside what it sends in accepted solutions. The programs are made up."""

import importlib.metadata
from dataclasses import replace

import pytest

from grader.checks.program import collectives
from grader.checks.program_subject import Pair
from grader.package.budget import Budget, budget_from, budget_text
from grader.program.collectives import Collective
from grader.verdicts.package_study import ProgramTraffic, Traffic
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, program, subject

WHOLE = 32_768
SENT = WHOLE * 7 // 8
GATHER = exchange("all-gather", WHOLE, outputs=(0,))


def budget(*sent: tuple[str, int, int], jax: str | None = None) -> Budget:
    """Of accepted styles with these names: bytes that a device sends, and bytes of whole tensors. The first one is the
    reference's."""
    reference = Traffic(*sent[0][1:])
    found = budget_from(
        "0", {name: [ProgramTraffic("x=8", ("public-1",), Traffic(*each), reference)] for name, *each in sent}
    )
    return found if jax is None else found.model_copy(update={"jax": jax})


USUAL = budget(("reference", SENT, WHOLE), ("accepted/twice", 2 * SENT, WHOLE))


def message(*mine: Collective, budget: Budget | None = USUAL, reference: tuple[Collective, ...] = (GATHER,)) -> str:
    made = subject((program(EIGHT, collectives=mine), program(EIGHT, collectives=reference)))
    pair = Pair(made.pairs[0].mine, made.pairs[0].reference, ("public-1",))
    finding = collectives.check(replace(made, pairs=(pair,), budget=budget), collectives.Bounds())
    return "" if finding.passed else finding.message


def test_what_accepted_solutions_send_passes():
    assert message(GATHER) == ""
    assert message(replace(GATHER, ring_bytes=2 * SENT + 64)) == ""


def test_a_byte_more_than_the_slack_is_named_with_its_line():
    # Neither the reference nor any rule has such a collective.
    more = exchange("all-to-all", 1024, ring_bytes=SENT + 65, outputs=(0,), source_line=31)
    assert message(GATHER, more) == (
        "On mesh x=8, a device sends 56.1 KiB in all; accepted solutions send 28 KiB to 56 KiB. Line 31 sends 896 B by "
        "all-to-all over x; the reference sends nothing this way."
    )


def test_tensors_that_move_twice_are_found_if_a_costlier_style_sends_as_much():
    twice = replace(GATHER, source_line=12, parts=tuple(replace(each, source_line=12) for each in GATHER.parts))
    assert message(GATHER, twice) == (
        "On mesh x=8, collectives move 64 KiB in all; in accepted solutions they move 32 KiB. Lines 7 and 12 send 56 "
        "KiB by all-gather over x; the reference sends 28 KiB this way."
    )


def test_a_line_that_sends_more_than_the_reference_is_told_how_much_that_sends():
    more = exchange("all-gather", 2 * WHOLE, outputs=(0,), source_line=9)
    assert message(more).endswith("Line 9 sends 56 KiB by all-gather over x; the reference sends 28 KiB this way.")


def test_sizes_that_depend_on_drawn_inputs_scale_with_the_reference():
    big = exchange("all-gather", 4 * WHOLE, outputs=(0,))
    assert message(big, reference=(big,)) == ""
    assert "accepted solutions send 112 KiB to 224 KiB" in message(big, big, big, reference=(big,))


@pytest.mark.parametrize("unknown", [None, budget(("reference", 0, 0), jax="0.0.1")], ids=["no file", "another JAX"])
def test_without_a_measured_budget_nothing_is_bounded(unknown: Budget | None):
    assert message(GATHER, GATHER, GATHER, budget=unknown) == ""


def test_the_limits_stand_in_the_evidence():
    made = subject((program(EIGHT, collectives=[GATHER]), program(EIGHT, collectives=[GATHER])))
    pair = Pair(made.pairs[0].mine, made.pairs[0].reference, ("public-1",))
    (evidence,) = collectives.check(replace(made, pairs=(pair,), budget=USUAL), collectives.Bounds()).evidence
    assert [(each.name, each.mine, each.at_most) for each in evidence.limits] == [
        ("all that a device sends", SENT, 2 * SENT + 64),
        ("all tensors that are sent", WHOLE, WHOLE + 64),
    ]


def test_the_file_is_what_was_measured():
    again = Budget.model_validate_json(budget_text(USUAL))
    assert again == USUAL
    assert again.jax == importlib.metadata.version("jax")
    (only,) = again.programs
    assert (only.sent.least, only.sent.most, only.sent.style) == (SENT, 2 * SENT, "accepted/twice")
    assert (only.moved.most, only.moved.style) == (WHOLE, "accepted/twice")
