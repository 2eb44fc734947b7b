from functools import partial

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def all_reduce(mesh: Mesh, parts: jax.Array) -> jax.Array:
    """Add up vectors from all devices; every device receives the whole sum.

    Args:
      mesh: one axis, "data", of 8 or 4 devices.
      parts: (M, D), split along dimension 0: each device holds M / devices vectors.
    Returns:
      The sum, (D,), whole on every device: sharding P().
    """

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())
    def add_up(local: jax.Array) -> jax.Array:
        # local is (M / devices, D). The values are right. Replace psum by the two collectives that it consists of.
        return jax.lax.psum(local.sum(axis=0), "data")

    return add_up(parts)
