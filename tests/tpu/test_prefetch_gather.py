"""What the schedule of the compiler for TPUs shows of each submission of prefetch_gather, and what only it shows."""

from pathlib import Path

import pytest

from grader.core.chips import compiler_of
from grader.judging.judge import Judge
from grader.review.reader import read_package
from tests.grader.on_chips import hidden_in, overlap_of

PACKAGE = read_package(Path(__file__).parents[2] / "problems" / "prefetch_gather")
pytestmark = pytest.mark.xdist_group("tpu")

# The reference with a gather that is held back until the product is done. The CPU's program has no barriers.
HELD_BACK = (
    "return (jnp.tanh(h @ w), whole(next_shard)), None",
    "h, shard = jax.lax.optimization_barrier((jnp.tanh(h @ w), next_shard))\n        return (h, whole(shard)), None",
)
# The reference with two gathers for each layer, one for half of each shard.
IN_TWO_GATHERS = (
    'return jax.lax.all_gather(shard, "fsdp", tiled=True)',
    'halves = [jax.lax.all_gather(half, "fsdp") for half in jnp.split(shard, 2)]\n'
    "        return jnp.concatenate(halves, axis=1).reshape(-1, shard.shape[-1])",
)
# Rejected for something else: their gathers are hidden.
HIDDEN = {
    "first_layer_twice",
    "last_layer_skipped",
    "off_by_one",
    "tanh_missing_at_the_end",
    "bfloat16",
    "bfloat16_on_the_way",
    "rows_gathered",
    "rows_of_all_devices",
    "decoy_loop",
}
COMPILED = [each for each in PACKAGE.rejected if each.reason != "error"]


@pytest.mark.parametrize("name", ["reference", *[each.name for each in PACKAGE.accepted]])
def test_every_accepted_submission_hides_its_gathers(terse: Judge, name: str) -> None:
    sources = {each.name: each.source for each in PACKAGE.accepted} | {"reference": PACKAGE.reference}
    verdict = terse.judge(PACKAGE, sources[name])
    found = overlap_of(verdict)
    assert (found.checked, found.passed) == (True, True), found.message
    assert (verdict.status, verdict.score) == ("accepted", 100)


@pytest.mark.parametrize("name", ["starter", *[each.name for each in COMPILED]])
def test_a_rejected_submission_is_exposed_unless_its_mistake_is_another(terse: Judge, name: str) -> None:
    """The reason must be the one without this compiler: all others are found in the CPU's program."""
    sources = {each.name: each.source for each in COMPILED} | {"starter": PACKAGE.starter}
    reasons = {each.name: each.reason for each in COMPILED} | {"starter": "wrong_communication"}
    verdict = terse.judge(PACKAGE, sources[name])
    found = overlap_of(verdict)
    assert (found.checked, found.passed) == (True, name.split("/")[-1] in HIDDEN)
    assert (verdict.status, verdict.reason) == ("rejected", reasons[name])
    assert any(not check.passed for check in verdict.checks if check.id != "overlap")


@pytest.mark.parametrize(
    ("change", "found_by"),
    # The CPU's compiler drops a barrier, and the exported program has it.
    [(HELD_BACK, ["ahead", "overlap"]), (IN_TWO_GATHERS, ["overlap"])],
    ids=["held-back", "in-two-gathers"],
)
def test_a_program_that_waits_is_found_in_the_schedule(
    terse: Judge, change: tuple[str, str], found_by: list[str]
) -> None:
    assert PACKAGE.reference.count(change[0]) == 1
    verdict = terse.judge(PACKAGE, PACKAGE.reference.replace(*change))
    assert [check.id for check in verdict.checks if not check.passed] == found_by


def test_the_texts_say_what_this_compiler_schedules(terse: Judge) -> None:
    version = compiler_of("tpu")
    assert version in PACKAGE.statement
    assert version in PACKAGE.editorial
    hidden = [hidden_in(terse.judge(PACKAGE, each), "v5e:2x4") for each in (PACKAGE.reference, PACKAGE.starter)]
    text = " ".join(PACKAGE.editorial.split())
    assert hidden[0].mine == hidden[0].whole
    assert f"all {hidden[0].whole:,} operations of a round's product" in text
    assert f"and {hidden[1].mine} of them are" in text
