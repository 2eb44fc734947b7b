from functools import partial

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def shift_right(mesh: Mesh, x: jax.Array, ring: bool) -> jax.Array:
    """Pass each device's block to its right neighbour.

    Args:
      mesh: one axis, "data", of 8 or 4 devices.
      x: (R, C), sharding P("data"): each device holds R / devices rows, its block.
      ring: whether the last device sends to device 0. Otherwise device 0 gets zeros.
    Returns:
      (R, C), sharding P("data"): device k holds the block that device k - 1 had.
    """

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def send(block: jax.Array) -> jax.Array:
        # block is (R / devices, C). Return the block that arrives, of the same shape.
        raise NotImplementedError

    return send(x)
