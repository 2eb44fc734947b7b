"""The message about misplaced leaves: one for all leaves that are wrong in the same way."""

from dataclasses import replace

from grader.checks.program import sharding
from grader.program.measured import Measured
from tests.grader.checks.program.made import EIGHT, FOUR, program, split, subject, whole


def with_leaves(measured: Measured, count: int, *, is_whole: bool) -> Measured:
    """Replace `w` by `count` equal leaves."""
    devices = measured.facts.devices
    leaf = whole((512, 16), devices) if is_whole else split((512, 16), devices)
    paths = tuple(f"mu/{number}" for number in range(count))
    facts = replace(
        measured.facts,
        inputs=(*[leaf] * count, measured.facts.inputs[1]),
        outputs=(*[leaf] * count, measured.facts.outputs[1]),
    )
    return replace(measured, facts=facts, state=paths, outputs=(*paths, "loss"))


def test_leaves_that_are_wrong_in_the_same_way_share_one_sentence():
    pairs = [
        (with_leaves(program(mesh), 6, is_whole=True), with_leaves(program(mesh), 6, is_whole=False))
        for mesh in (EIGHT, FOUR)
    ]
    finding = sharding.check(subject(*pairs), sharding.Bounds())
    assert (finding.passed, finding.reason) == (False, "wrong_sharding")
    assert finding.message == (
        "mu/0, mu/1, mu/2, mu/3 and 2 more in the input state and the step's output, on every mesh: "
        "expected P('x'), got P(). Every device holds all of each leaf, so sharding saves no memory. Place each "
        "leaf in `init` with `jax.device_put(leaf, NamedSharding(mesh, spec))`. Pin the output with "
        "`jax.lax.with_sharding_constraint`, or with `out_specs` of `shard_map`."
    )
    assert sum(not row.ok for entry in finding.evidence for row in entry.leaves) == 24


def test_one_leaf_on_one_mesh_is_named_with_its_place():
    right = (program(EIGHT), program(EIGHT))
    finding = sharding.check(
        subject(right, (program(FOUR, new_w=whole((512, 16), 4)), program(FOUR))), sharding.Bounds()
    )
    assert finding.message.startswith(
        "w in the step's output, on mesh x=4: expected P('x'), got P(). Every device holds the whole leaf"
    )
    assert "in `init`" not in finding.message


def test_another_split_differs_from_none():
    turned = replace(
        split((512, 16), 8), spec="P(None, 'x')", slices=tuple(((0, 512), (2 * d, 2 * d + 2)) for d in range(8))
    )
    found = subject((program(EIGHT, w=turned), program(EIGHT)))
    finding = sharding.check(found, sharding.Bounds())
    assert "got P(None, 'x'). Devices hold other shards than they should" in finding.message
    assert sharding.check(found, sharding.Bounds(dims="any")).passed


def test_a_leaf_that_the_program_does_not_place_is_misplaced():
    loose = replace(split((512, 16), 8), placed=False, spec="no sharding over the mesh")
    found = subject((program(EIGHT, w=loose), program(EIGHT)))
    assert "got no sharding over the mesh" in sharding.check(found, sharding.Bounds()).message


def test_only_the_leaves_that_are_named_count():
    found = subject((program(EIGHT, w=whole((512, 16), 8)), program(EIGHT)))
    assert sharding.check(found, sharding.Bounds(leaves=["mu/*"])).passed
    assert not sharding.check(found, sharding.Bounds(leaves=["w"])).passed
