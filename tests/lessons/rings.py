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


# The rows of all devices together, in matrices, and whether the result is whole: the gather starts from shards, the
# others from a matrix on each device.
_KINDS: dict[str, tuple[Callable[[jax.Array], jax.Array], bool, P]] = {
    "all_gather": (_gather, False, P()),
    "reduce_scatter": (_scatter, True, P("x")),
    "all_reduce": (_reduce, True, P()),
}


@cache
def sent(kind: str, devices: int) -> int:
    """The bytes that one device sends, for `all_gather`, `reduce_scatter` or `all_reduce` on this number of devices."""
    body, one_each, out = _KINDS[kind]
    mesh = Mesh(np.array(jax.devices()[:devices]), ("x",))
    mapped = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=out, check_vma=False)
    rows = jax.ShapeDtypeStruct((devices * WIDTH if one_each else WIDTH, WIDTH), jnp.float32)
    text = jax.jit(mapped).lower(rows).compile().as_text()
    return sum(each.ring_bytes * (each.executions or 0) for each in take_census(text, devices).collectives)
