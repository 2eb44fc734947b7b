"""What one device sends around a ring for a matrix, which the lesson on communication counts and draws."""

from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census

WIDTH = 256


def _gather(w: jax.Array) -> jax.Array:
    return lax.all_gather(w, "x", tiled=True)


def _scatter(w: jax.Array) -> jax.Array:
    return lax.psum_scatter(w, "x", tiled=True)


def _reduce(w: jax.Array) -> jax.Array:
    return lax.psum(w, "x")


# For each kind: its body, whether each device starts with a whole matrix instead of a shard, and the result's spec.
_KINDS: dict[str, tuple[Callable[[jax.Array], jax.Array], bool, P]] = {
    "all_gather": (_gather, False, P()),
    "reduce_scatter": (_scatter, True, P("x")),
    "all_reduce": (_reduce, True, P()),
}


@cache
def sent(kind: str, devices: int) -> int:
    """Return the bytes that one device sends for `all_gather`, `reduce_scatter` or `all_reduce` on so many devices."""
    body, one_each, out = _KINDS[kind]
    mesh = Mesh(np.array(jax.devices()[:devices]), ("x",))
    mapped = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=out, check_vma=False)
    rows = jax.ShapeDtypeStruct((devices * WIDTH if one_each else WIDTH, WIDTH), jnp.float32)
    text = jax.jit(mapped).lower(rows).compile().as_text()
    return sum(each.ring_bytes * (each.executions or 0) for each in take_census(text, devices).collectives)


def gather_rounds(devices: int) -> list[list[int]]:
    """Run a ring's all_gather. Returns the part that arrives in each round at each device, beginning with its own."""

    def body(own: jax.Array) -> jax.Array:
        seen = [own]
        for _ in range(devices - 1):
            seen.append(lax.ppermute(seen[-1], "x", _ring(devices)))
        return jnp.stack(seen)

    return _rounds(body, jnp.arange(devices), devices)


def scatter_rounds(devices: int) -> list[list[tuple[int, int]]]:
    """Run a ring's reduce_scatter. Returns the part that each device sums in each round, and the terms in the sum."""

    def body(terms: jax.Array) -> jax.Array:
        own = (lax.axis_index("x") - 1) % devices
        seen = [terms[0, own]]
        for later in range(1, devices):
            arrived = lax.ppermute(seen[-1], "x", _ring(devices))
            seen.append(arrived + terms[0, (own - later) % devices])
        return jnp.stack(seen)[:, None]

    # A term of part p is 1000 * p + 1: a sum of t terms is t times that.
    terms = jnp.broadcast_to(1000 * jnp.arange(devices) + 1, (devices, devices))
    return [[(each // (each % 1000) // 1000, each % 1000) for each in row] for row in _rounds(body, terms, devices)]


def _ring(devices: int) -> list[tuple[int, int]]:
    return [(each, (each + 1) % devices) for each in range(devices)]


def _rounds(body: Callable[[jax.Array], jax.Array], values: jax.Array, devices: int) -> list[list[int]]:
    mesh = Mesh(np.array(jax.devices()[:devices]), ("x",))
    run = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))
    return jax.jit(run)(values).tolist()
