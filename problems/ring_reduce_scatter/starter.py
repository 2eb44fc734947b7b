from functools import partial

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh: Mesh, terms: jax.Array) -> jax.Array:
    """Add up terms from all devices, and leave each device its block of the sum.

    Args:
      mesh: one axis, "data", of 8 or 4 devices.
      terms: (M, R, C), sharding P("data"): each device holds M / devices terms.
    Returns:
      The sum over the M terms, (R, C), sharding P("data"): device k holds block k, R / devices rows.
    """

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def add_up(local: jax.Array) -> jax.Array:
        # local is (M / devices, R, C). The values are right. Replace psum_scatter by ppermutes.
        return jax.lax.psum_scatter(local.sum(axis=0), "data", tiled=True)

    return add_up(terms)
