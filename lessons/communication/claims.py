"""The numbers of the lesson: collectives and a step, compiled for host devices. There is no network to time."""

import math
from functools import cache

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from grader.program.census import Census, take_census
from tests.lessons.rings import WIDTH, sent

_DEVICES, _ROWS = 8, 512


@cache
def _step(rows: int, *, forward: bool = False) -> Census:
    """Compile the loss of two FSDP layers in shard_map, or its gradient."""
    mesh = Mesh(jax.devices(), ("x",))

    def body(weights, rows):
        def loss(weights):
            hidden = rows
            for shard in weights:
                hidden = jnp.tanh(hidden @ lax.all_gather(shard, "x", tiled=True))
            return lax.pmean(jnp.mean(hidden**2), "x")

        return loss(weights) if forward else jax.grad(loss)(weights)

    out = P() if forward else (P("x"), P("x"))
    mapped = jax.shard_map(body, mesh=mesh, in_specs=((P("x"), P("x")), P("x")), out_specs=out)
    weights = (jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32),) * 2
    text = jax.jit(mapped).lower(weights, jax.ShapeDtypeStruct((rows, WIDTH), jnp.float32)).compile().as_text()
    return take_census(text, mesh.size)


def _sent(census: Census) -> int:
    return sum(each.ring_bytes * each.executions for each in census.collectives)


def devices():
    """The devices of the mesh."""
    return len(jax.devices()), "devices"


def matrix_bytes():
    """The bytes of the matrix that is summed."""
    return WIDTH * WIDTH * 4, "bytes"


def twice_the_matrix():
    """What a device would send for an all_reduce of the matrix if it passed on every shard twice."""
    return 2 * matrix_bytes()[0], "bytes"


def reduced_by_two():
    """What one of 2 devices sends around a ring for an all_reduce of the matrix."""
    return sent("all_reduce", 2), "bytes"


def reduced_by_eight():
    """What one of 8 devices sends around a ring for the same all_reduce."""
    return sent("all_reduce", 8), "bytes"


def logarithm_times():
    """The logarithm of 8 over the logarithm of 2."""
    return int(math.log2(8) / math.log2(2)), "times"


@cache
def _halving() -> Census:
    """Compile a reduce_scatter by halving: at each level, each device sends half of what is left to one other."""
    mesh = Mesh(jax.devices(), ("x",))

    def body(term):
        device, left, distance = lax.axis_index("x"), term, mesh.size // 2
        while distance:
            lower, upper = jnp.split(left, 2)
            in_upper = (device // distance) % 2 == 1
            sends, keeps = jnp.where(in_upper, lower, upper), jnp.where(in_upper, upper, lower)
            left = keeps + lax.ppermute(sends, "x", [(each, each ^ distance) for each in range(mesh.size)])
            distance //= 2
        return left

    def by_jax(term):
        return lax.psum_scatter(term, "x", tiled=True)

    terms = jnp.arange(float(mesh.size * WIDTH * WIDTH)).reshape(mesh.size * WIDTH, WIDTH) % 7
    run, expected = (
        jax.jit(jax.shard_map(each, mesh=mesh, in_specs=P("x"), out_specs=P("x"))) for each in (body, by_jax)
    )
    assert (run(terms) == expected(terms)).all()
    return take_census(run.lower(terms).compile().as_text(), mesh.size)


def halving_sends():
    """The collective_permutes of a reduce_scatter by halving, on 8 devices."""
    found = _halving().collectives
    assert {each.kind for each in found} == {"collective-permute"}
    return sum(each.executions for each in found), "sends"


def halving_sent():
    """What one device sends for a reduce_scatter of the matrix by halving, which is as much as in a ring."""
    assert _sent(_halving()) == sent("reduce_scatter", 8)
    return _sent(_halving()), "bytes"


def tree_sent():
    """What a device sends if it sends the whole matrix at each level of a tree of 8 devices."""
    return matrix_bytes()[0] * halving_sends()[0], "bytes"


def step_sent():
    """What one device sends around a ring in the gradient of two FSDP layers, with 512 and with 2048 rows."""
    (of_both,) = {_sent(_step(rows)) for rows in (_ROWS, 4 * _ROWS)}
    return of_both, "bytes"


def kinds():
    """The kinds of collectives over weights in the gradient of two FSDP layers."""
    return len({each.kind for each in _step(_ROWS).collectives} - {"all-reduce"}), "kinds"


def flops():
    """The FLOPs of the matrix products of one device in the gradient, with 512 rows."""
    return _step(_ROWS).dot_flops, "FLOPs"


def forward_flops():
    """The FLOPs of the matrix products of one device in the forward pass alone, with 512 rows."""
    return _step(_ROWS, forward=True).dot_flops, "FLOPs"


def flops_of_more():
    """The FLOPs of the gradient with 2048 rows."""
    return _step(4 * _ROWS).dot_flops, "FLOPs"


@cache
def _gathered() -> list[int]:
    """The bytes of the whole weight that each all_gather in the gradient returns."""
    found = [each for each in _step(_ROWS).collectives if each.kind == "all-gather"]
    return [each.ring_bytes * _DEVICES // (_DEVICES - 1) for each in found for _ in range(each.executions)]


def layer_gathered():
    """The bytes of the whole weight that one all_gather in the gradient returns."""
    (each,) = set(_gathered())
    return each, "bytes"


def all_gathered():
    """The bytes that all all_gathers in the gradient return: both whole weights."""
    assert sum(_gathered()) == 2 * matrix_bytes()[0]
    return sum(_gathered()), "bytes"


def flops_a_byte():
    """The FLOPs of the gradient over the bytes that a device sends, with 512 rows."""
    return flops()[0] / step_sent()[0], "FLOPs"


def flops_a_byte_of_more():
    """The FLOPs of the gradient over the bytes that a device sends, with 2048 rows."""
    return flops_of_more()[0] / step_sent()[0], "FLOPs"
