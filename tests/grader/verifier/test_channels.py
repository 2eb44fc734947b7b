"""Channels of collectives: equal ones have one before compilation, and no two different ones can meet after it."""

import re
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AbstractMesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.hlo import read_hlo
from grader.verifier.channels import number_channels, shared_channel, unequal
from grader.verifier.errors import ProgramRefused

MESH = AbstractMesh((4,), ("x",))
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
# Each takes a vector and returns a number; tiled, so that 4 elements and 4,096 are possible.
COLLECTIVES = {
    "all_gather": lambda x: lax.all_gather(x, "x")[0, 0],
    "psum": lambda x: lax.psum(x, "x")[0],
    "psum_scatter": lambda x: lax.psum_scatter(x, "x", tiled=True)[0],
    "all_to_all": lambda x: lax.all_to_all(x, "x", 0, 0, tiled=True)[0],
    "ppermute": lambda x: lax.ppermute(x, "x", RING)[0],
}


def channels(local, *, apart=False):
    """The channels in the text of an exported shard_map over four devices, as numbered."""

    def step(x):
        return jax.shard_map(local, mesh=MESH, in_specs=P("x"), out_specs=P("x"), check_vma=False)(x)

    aval = jax.ShapeDtypeStruct((64,), jnp.float32, sharding=NamedSharding(MESH, P("x")))
    exported = jax.export.export(jax.jit(step))(aval)
    numbered = replace(exported, mlir_module_serialized=number_channels(exported.mlir_module(), apart=apart))
    return [int(number) for number in re.findall(r"channel_handle<handle = (\d+)", numbered.mlir_module())]


def first():
    return lax.axis_index("x") == 0


@pytest.mark.parametrize("collective", COLLECTIVES.values(), ids=COLLECTIVES)
def test_collectives_of_other_sizes_get_other_channels(collective):
    large = lambda x: jnp.tile(x, 1024)  # noqa: E731
    one, other = channels(lambda x: x + lax.cond(first(), lambda: collective(large(x)), lambda: collective(x)))
    assert one != other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: lax.psum(x, "x"), lambda x: lax.pmax(x, "x")),
        (lambda x: lax.psum(x, "x"), lambda x: lax.psum(x, "x", axis_index_groups=[[0, 1], [2, 3]])),
        (lambda x: lax.psum(x, "x"), lambda x: lax.psum(x.astype(jnp.int32), "x").astype(x.dtype)),
        (lambda x: lax.psum(x, "x"), lambda x: lax.psum(x.reshape(4, 4), "x").reshape(-1)),
        (lambda x: lax.ppermute(x, "x", RING), lambda x: lax.ppermute(x, "x", [(b, a) for a, b in RING])),
    ],
    ids=["reducer", "groups", "dtype", "shape", "pairs"],
)
def test_collectives_that_differ_in_anything_get_other_channels(one, other):
    assert len(set(channels(lambda x: one(x) + other(x)))) == 2


def test_equal_collectives_keep_one_channel_unless_they_are_told_apart():
    both = lambda x: lax.cond(first(), lambda: lax.psum(2 * x, "x"), lambda: lax.psum(3 * x, "x"))  # noqa: E731
    assert channels(both) == [1, 1]
    assert channels(both, apart=True) == [1, 2]


ADD = """
%{name} (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %r = f32[] {opcode}(%a, %b)
}}
"""
GROUPS = "replica_groups={{0,1,2,3}}, use_global_device_ids=true"
# Predicates, loops and branches without anything that a test does not name.
MODULE = """HloModule m, num_partitions={partitions}{header}
{adds}
%one (p: f32[8]) -> f32[8] {{
  %p = f32[8] parameter(0)
  {one}
}}

%other (p: f32[8]) -> f32[8] {{
  %p = f32[8] parameter(0)
  %c = f32[16] constant({{...}})
  {other}
}}

%go_on (p: f32[8]) -> pred[] {{
  %p = f32[8] parameter(0)
  ROOT %go = pred[] custom-call(%p), custom_call_target="data"
}}

ENTRY %main (p: f32[8], i: pred[]) -> f32[8] {{
  %p = f32[8] parameter(0)
  %i = pred[] parameter(1)
  {entry}
}}
"""
SUM = f"ROOT %s = f32[8] all-reduce(%p), channel_id=1, {GROUPS}, to_apply=%add"
BRANCHES = "ROOT %r = f32[8] conditional(%i, %p, %p), true_computation=%one, false_computation=%other"
CALLS = "%f = f32[8] call(%p), to_apply=%one\n  ROOT %r = f32[8] call(%f), to_apply=%other"
LOOP = "%f = f32[8] call(%p), to_apply=%one\n  ROOT %r = f32[8] while(%f), condition=%go_on, body=%other"
COUNTED = LOOP + ', backend_config={"known_trip_count":{"n":"3"}}'


def module(other, entry=BRANCHES, one=SUM, header="", partitions=4):
    other = other.replace("SENT", f"channel_id=1, {GROUPS}")
    adds = ADD.format(name="add", opcode="add") + ADD.format(name="plus", opcode="add")
    adds += ADD.format(name="max", opcode="maximum")
    return read_hlo(MODULE.format(one=one, other=other, entry=entry, header=header, partitions=partitions, adds=adds))


UNEQUAL = {
    "shape": "%g = f32[16] all-reduce(%c), SENT, to_apply=%add\n ROOT %s = f32[8] slice(%g), slice={[0:8]}",
    "opcode": "ROOT %s = f32[8] all-gather(%p), SENT, dimensions={0}",
    "reducer": SUM.replace("%add", "%max"),
    "dtype": "%q = s32[8] convert(%p)\n %g = s32[8] all-reduce(%q), SENT, to_apply=%add\n ROOT %s = f32[8] convert(%g)",
    "groups": SUM.replace("{{0,1,2,3}}", "{{0,1},{2,3}}"),
    "ids": SUM.replace(", use_global_device_ids=true", ""),
    "merged": "%t = (f32[8], f32[16]) all-reduce(%p, %c), SENT, to_apply=%add\n "
    "ROOT %s = f32[8] get-tuple-element(%t), index=0",
    "started": "%t = f32[8] all-reduce-start(%p), SENT, to_apply=%max\n ROOT %s = f32[8] all-reduce-done(%t)",
}


@pytest.mark.parametrize("other", UNEQUAL.values(), ids=UNEQUAL)
def test_unequal_collectives_of_two_branches_may_not_share_a_channel(other):
    found = module(other)
    shared = shared_channel(found, 4)
    assert shared is not None
    refusal = unequal(found, *shared)
    assert refusal.reason == "divergent_collective"
    assert "an all_reduce of f32[8] on one device would meet a" in str(refusal)
    # Apart, none of them meets the other.
    assert (
        shared_channel(
            module(other.replace("SENT", f"channel_id=2, {GROUPS}").replace("channel_id=1", "channel_id=2")), 4
        )
        is None
    )


def test_equal_collectives_may_meet_whatever_their_reducer_is_called():
    assert shared_channel(module(SUM.replace("%add", "%plus")), 4) is None


@pytest.mark.parametrize(
    ("entry", "meet"),
    [(BRANCHES, True), (CALLS, False), (LOOP, True), (COUNTED, False)],
    ids=["branches", "one after the other", "a loop with a condition of its own", "a counted loop"],
)
def test_collectives_that_every_device_reaches_in_one_order_may_share_a_channel(entry, meet):
    assert (shared_channel(module(UNEQUAL["shape"], entry), 4) is not None) == meet


@pytest.mark.parametrize(
    "damaged",
    [
        {"header": ", replica_count=4", "partitions": 1},
        {"header": ", replica_count=2"},
        {"partitions": 8},
        {"other": "%s = (f32[8], u32[], token[]) send(%p), channel_id=7\n  ROOT %r = f32[8] copy(%p)"},
        {"other": SUM.replace("channel_id=1", "channel_id=one")},
    ],
    ids=["replicas", "replicas of partitions", "another number of devices", "send", "no number"],
)
def test_what_could_meet_without_a_channel_is_refused(damaged):
    with pytest.raises(ProgramRefused) as caught:
        shared_channel(module(**{"other": SUM} | damaged), 4)
    assert caught.value.reason == "not_exportable"
