"""The message about misplaced leaves: one for all leaves that are wrong in the same way."""

from dataclasses import replace

import pytest

from grader.checks.program import sharding
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program, split, subject, whole

WHOLE, SPLIT = whole((512, 16), 8), split((512, 16), 8)


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
        "On every mesh, mu/0, mu/1, mu/2, mu/3 and 2 more of shape (512, 16) in the input state and the step's "
        "output: expected P('x') (shards of shape (64, 16) on x=8), got P(). Every device holds all of these "
        "leaves, so "
        "sharding saves no memory. In `init`, give each leaf the expected spec: `jax.device_put(leaf, "
        "NamedSharding(mesh, spec))`. Give the output the expected spec, in `out_specs` of `shard_map` or in "
        "`jax.lax.with_sharding_constraint`."
    )
    assert sum(not row.ok for entry in finding.evidence for row in entry.leaves) == 24


def test_an_init_that_is_compiled_is_not_told_to_use_device_put():
    """Inside a compiled function, `jax.device_put` places nothing."""
    found = subject((program(EIGHT, w=whole((512, 16), 8)), program(EIGHT)))
    assert "In `init`, give it the expected spec: `jax.device_put(" in sharding.check(found, sharding.Bounds()).message
    compiled = replace(found, spec=found.spec.model_copy(update={"export_init": True}))
    message = sharding.check(compiled, sharding.Bounds()).message
    assert (
        "Give it the expected spec in `jax.lax.with_sharding_constraint`, or in `out_shardings` of the jitted"
        in message
    )
    assert "In `init`, give" not in message


def test_the_advice_is_not_what_the_program_has_already():
    mine = program(EIGHT, new_w=whole((512, 16), 8))
    pinned = program(EIGHT, new_w=whole((512, 16), 8), operations={"sdy.sharding_constraint": 1})

    def message(got: Measured, axis_types: str = "auto") -> str:
        found = subject((got, program(EIGHT)))
        found = replace(found, spec=found.spec.model_copy(update={"axis_types": axis_types}))
        return sharding.check(found, sharding.Bounds()).message

    assert "in `out_specs` of `shard_map` or in `jax.lax.with_sharding_constraint`" in message(mine)
    assert "calls `with_sharding_constraint`, but not with the expected spec on what it returns" in message(pinned)
    assert "in `jax.lax.with_sharding_constraint`" not in message(pinned)
    assert "in `out_sharding` of the operation that makes it" in message(pinned, "explicit")


def test_one_leaf_on_one_mesh_is_named_with_its_place():
    right = (program(EIGHT), program(EIGHT))
    finding = sharding.check(
        subject(right, (program(FOUR, new_w=whole((512, 16), 4)), program(FOUR))), sharding.Bounds()
    )
    assert finding.message.startswith(
        "On mesh x=4, w of shape (512, 16) in the step's output: expected P('x') (shards of shape (128, 16)), "
        "got P(). Every device holds the whole leaf"
    )
    assert "In `init`" not in finding.message


def test_the_rule_of_the_problem_follows_the_specs():
    found = subject((program(EIGHT, w=WHOLE), program(EIGHT)))
    rule = "Weights are split by rows over x."
    bounds = sharding.Bounds(rule=rule)
    assert sharding.check(found, bounds).message.splitlines()[-1] == rule


def test_shards_of_several_shapes_are_not_named():
    uneven = replace(SPLIT, slices=(*SPLIT.slices[1:], WHOLE.slices[0]))
    message = sharding.check(subject((program(EIGHT, w=uneven), program(EIGHT))), sharding.Bounds()).message
    assert message.count("shards of shape") == 1


def test_another_split_differs_from_none():
    turned = replace(
        split((512, 16), 8), spec="P(None, 'x')", slices=tuple(((0, 512), (2 * d, 2 * d + 2)) for d in range(8))
    )
    found = subject((program(EIGHT, w=turned), program(EIGHT)))
    finding = sharding.check(found, sharding.Bounds())
    assert finding.message.endswith(
        "expected P('x') (shards of shape (64, 16)), got P(None, 'x') (shards of shape (512, 2)). Devices hold the "
        "wrong "
        "shards."
    )
    assert sharding.check(found, sharding.Bounds(dims="any")).passed


def test_a_leaf_that_the_program_does_not_place_is_misplaced():
    loose = replace(split((512, 16), 8), placed=False, spec="no sharding over the mesh")
    found = subject((program(EIGHT, w=loose), program(EIGHT)))
    assert "got no sharding over the mesh" in sharding.check(found, sharding.Bounds()).message


def test_only_the_leaves_that_are_named_count():
    found = subject((program(EIGHT, w=whole((512, 16), 8)), program(EIGHT)))
    assert sharding.check(found, sharding.Bounds(leaves=["mu/*"])).passed
    assert not sharding.check(found, sharding.Bounds(leaves=["w"])).passed


def test_a_leaf_that_the_program_does_not_place_may_be_whole():
    """One device holds all of it either way."""
    loose = replace(whole((512, 16), 8), placed=False)
    found = subject((program(EIGHT, w=loose), program(EIGHT, w=whole((512, 16), 8))))
    assert sharding.check(found, sharding.Bounds()).passed


def test_a_leaf_in_two_pieces_has_to_be_placed():
    two = {"x": 2}
    loose = replace(split((512, 16), 2), placed=False)
    assert not sharding.check(subject((program(two, w=loose), program(two))), sharding.Bounds()).passed


def test_a_leaf_of_another_shape_is_misplaced():
    larger = replace(split((512, 16), 8), shape=(512, 17))
    finding = sharding.check(subject((program(EIGHT, w=larger), program(EIGHT))), sharding.Bounds())
    assert not finding.passed
    assert finding.message == (
        "On every mesh, w in the input state and the step's output: expected shape (512, 16), got (512, 17). Correct "
        "the shape first: shards of different shapes cannot be compared."
    )


@pytest.mark.parametrize(
    ("rows", "shapes"),
    [
        ((8, 8), " of shape (8, 16) in"),
        ((8, 16), " of shape (8, 16) or (16, 16) in"),
        ((8, 16, 24, 32), " of shape (8, 16) or (16, 16) or (24, 16) or (32, 16) in"),
        ((8, 16, 24, 32, 40), " and 1 more in"),
    ],
)
def test_up_to_four_shapes_are_named(rows: tuple[int, ...], shapes: str):
    paths = tuple(f"mu/{number}" for number in range(len(rows)))
    mine, reference = (
        replace(each, state=paths, outputs=paths, facts=replace(each.facts, inputs=leaves, outputs=leaves))
        for each in [program(EIGHT)]
        for leaves in (tuple(place((size, 16), 8) for size in rows) for place in (whole, split))
    )
    assert shapes in sharding.check(subject((mine, reference)), sharding.Bounds()).message


def test_leaves_of_other_shapes_are_told_one_by_one():
    scalar = replace(whole((), 8), shape=())
    mine = program(EIGHT, w=replace(split((512, 16), 8), shape=(512, 17)), new_w=scalar)
    finding = sharding.check(subject((mine, program(EIGHT))), sharding.Bounds())
    assert finding.message.splitlines() == [
        "On every mesh, w in the input state: expected shape (512, 16), got (512, 17). Correct the shape first: shards "
        "of different shapes cannot be compared.",
        "On every mesh, w in the step's output: expected shape (512, 16), got (). Correct the shape first: shards of "
        "different shapes cannot be compared.",
    ]


def test_a_leaf_that_is_missing_is_named_without_advice():
    mine = replace(program(EIGHT), state=("v",), outputs=("v", "loss"))
    finding = sharding.check(subject((mine, program(EIGHT))), sharding.Bounds())
    assert finding.message == (
        "On every mesh, w of shape (512, 16) in the input state and the step's output: expected P('x') (shards of "
        "shape (64, "
        "16)), got no such leaf."
    )
    assert [(row.path, row.when, row.ok, row.got) for row in finding.evidence[0].leaves] == [
        ("w", "in", False, None),
        ("w", "out", False, None),
        ("loss", "out", True, ((),) * 8),
    ]


def test_only_the_output_of_a_step_has_to_be_moved_before_the_next():
    shifted = replace(split((512, 16), 8), spec="P(None, 'x')", slices=tuple(((0, 512), (d, d + 2)) for d in range(8)))
    found = subject((program(EIGHT, new_w=shifted), program(EIGHT)))
    step = sharding.check(found, sharding.Bounds()).message
    assert step.startswith(
        "On every mesh, w of shape (512, 16) in the step's output: expected P('x') (shards of shape (64, 16)), "
        "got P(None, 'x')"
    )
    assert step.endswith(" Devices hold the wrong shards, so the next step has to move data first.")
    once = replace(found, spec=found.spec.model_copy(update={"steps": 1}))
    assert sharding.check(once, sharding.Bounds()).message.endswith(" Devices hold the wrong shards.")
    mine, reference = (
        replace(each, state=(), facts=replace(each.facts, inputs=()), outputs=("result", "loss"))
        for each in (program(EIGHT, new_w=shifted), program(EIGHT))
    )
    function = replace(subject((mine, reference)), spec=found.spec.model_copy(update={"init": None}))
    assert sharding.check(function, sharding.Bounds()).message == (
        "On every mesh, result of shape (512, 16): expected P('x') (shards of shape (64, 16)), got P(None, 'x') "
        "(shards "
        "of shape (512, 2)). Devices hold the wrong shards."
    )


def test_a_result_and_a_state_that_are_wrong_alike_are_named_together():
    mine, reference = (
        replace(program(EIGHT, w=leaf), outputs=("result", "loss"))
        for leaf in (whole((512, 16), 8), split((512, 16), 8))
    )
    finding = sharding.check(subject((mine, reference)), sharding.Bounds())
    assert finding.message.startswith(
        "On every mesh, w, result of shape (512, 16) in the input state and the step's output: "
    )


@pytest.mark.parametrize(
    ("count", "ending"),
    [(4, "Devices hold the wrong shards."), (5, "… and 1 more kind of fault."), (6, "… and 2 more kinds of fault.")],
)
def test_four_kinds_of_fault_are_described(count: int, ending: str):
    mine, reference = (with_leaves(program(EIGHT), count, is_whole=False) for _ in range(2))
    shifted = tuple(((0, 512), (2 * d, 2 * d + 2)) for d in range(8))
    each = [replace(split((512, 16), 8), spec=f"P({n})", slices=shifted) for n in range(count)]
    facts = replace(mine.facts, inputs=(*each, mine.facts.inputs[-1]))
    finding = sharding.check(subject((replace(mine, facts=facts), reference)), sharding.Bounds())
    assert finding.message.endswith(ending)
    assert finding.message.count("got P(") == 4


@pytest.mark.parametrize(("count", "names"), [(4, "mu/0, mu/1, mu/2, mu/3 of shape"), (5, "mu/3 and 1 more of shape")])
def test_four_leaves_are_named(count: int, names: str):
    pair = (with_leaves(program(EIGHT), count, is_whole=True), with_leaves(program(EIGHT), count, is_whole=False))
    assert names in sharding.check(subject(pair), sharding.Bounds()).message


def partly_whole() -> ProgramLeaf:
    """The first device holds all of it, and each of the others its own rows."""
    return replace(SPLIT, spec="uneven", slices=(WHOLE.slices[0], *SPLIT.slices[1:]))


@pytest.mark.parametrize(
    ("got", "expected", "text"),
    [
        (partly_whole(), SPLIT, "Devices hold the wrong shards"),
        (WHOLE, partly_whole(), "Every device holds the whole leaf"),
    ],
    ids=["one device holds all", "all but one should not"],
)
def test_a_leaf_is_whole_if_every_device_holds_all_of_it(got: ProgramLeaf, expected: ProgramLeaf, text: str):
    found = subject((program(EIGHT, w=got), program(EIGHT, w=expected)))
    assert text in sharding.check(found, sharding.Bounds()).message


def test_a_leaf_that_one_of_several_patterns_matches_counts():
    found = subject((program(EIGHT, w=WHOLE), program(EIGHT)))
    assert not sharding.check(found, sharding.Bounds(leaves=["w", "mu/*"])).passed
