"""Attention over positions that are split over host devices, in three ways, for the claims and figures of a lesson."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census

HEADS, FEATURES = 8, 64
Split = Callable[[jax.Array, jax.Array, jax.Array], jax.Array]
# For each query: the largest score so far and, relative to it, the sum of all weights and the sum of weighted values.
Sums = tuple[jax.Array, jax.Array, jax.Array]


def whole(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Compute attention of queries to all of these keys, each positions x heads x features."""
    scores = jnp.einsum("qhd,khd->qhk", q, k)
    return jnp.einsum("qhk,khd->qhd", jax.nn.softmax(scores), v)


def gathered(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Gather all keys and values on each device."""
    return whole(q, *lax.all_gather((k, v), "x", tiled=True))


def by_heads(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Give each device all positions of some heads."""
    return to_positions(whole(*map(to_heads, (q, k, v))))


def to_heads(part: jax.Array) -> jax.Array:
    """Exchange some positions of all heads for all positions of some heads."""
    return lax.all_to_all(part, "x", 1, 0, tiled=True)


def to_positions(part: jax.Array) -> jax.Array:
    return lax.all_to_all(part, "x", 0, 1, tiled=True)


def ring(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Use one part of the keys and values at a time, then send it to the next device."""
    devices = lax.axis_size("x")

    def add(sums: Sums, k: jax.Array, v: jax.Array) -> Sums:
        most, norm, out = sums
        scores = jnp.einsum("qhd,khd->qhk", q, k)
        above = jnp.maximum(most, scores.max(-1, keepdims=True))
        rescale, weights = jnp.exp(most - above), jnp.exp(scores - above)
        out = out * rescale + jnp.einsum("qhk,khd->qhd", weights, v)
        return above, norm * rescale + weights.sum(-1, keepdims=True), out

    def turn(carry: tuple[jax.Array, Sums], _: None) -> tuple[tuple[jax.Array, Sums], None]:
        here, sums = carry
        return (lax.ppermute(here, "x", _around(devices)), add(sums, *here)), None

    nothing = jnp.zeros_like(q[..., :1])
    start = jnp.stack([k, v]), (nothing - jnp.inf, nothing, jnp.zeros_like(q))
    (last, sums), _ = lax.scan(turn, start, None, devices - 1)
    _, norm, out = add(sums, *last)
    return out / norm


def _around(devices: int) -> list[tuple[int, int]]:
    return [(device, (device + 1) % devices) for device in range(devices)]


@dataclass(frozen=True)
class Cost:
    """For one device: bytes sent, collectives it takes part in, temporary buffers, and FLOPs in matrix products."""

    sent: int
    executions: int
    temporaries: int
    flops: int


@cache
def cost(attention: Split, positions: int) -> Cost:
    """Return the cost on 8 devices, and assert that the values agree with attention on one device."""
    mesh = Mesh(jax.devices(), ("x",))
    run = jax.jit(jax.shard_map(attention, mesh=mesh, in_specs=P("x"), out_specs=P("x")))
    values = jax.random.normal(jax.random.key(0), (3, positions, HEADS, FEATURES)) / 4
    assert jnp.allclose(run(*values), whole(*values), 1e-4, 1e-5)
    compiled = run.lower(*values).compile()
    census = take_census(compiled.as_text(), mesh.size)
    assert census.dot_flops is not None
    return Cost(
        sum(each.ring_bytes * (each.executions or 0) for each in census.collectives),
        sum(each.executions or 0 for each in census.collectives),
        compiled.memory_analysis().temp_size_in_bytes,
        census.dot_flops,
    )


def turns(devices: int) -> list[list[int]]:
    """Return whose keys each device has in each turn of the ring, read from a run on host devices."""
    mesh = Mesh(np.array(jax.devices()[:devices]), ("x",))

    def local(owner: jax.Array) -> jax.Array:
        seen = [owner]
        for _ in range(devices - 1):
            seen.append(lax.ppermute(seen[-1], "x", _around(devices)))
        return jnp.stack(seen)

    mapped = jax.shard_map(local, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))
    return mapped(jnp.arange(devices)).tolist()
