"""Every device received all blocks and kept one of them. It needs only the block of its left neighbour."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def shift_right(mesh, x, ring):
    devices = mesh.shape["data"]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def send(block):
        blocks = jax.lax.all_gather(block, "data")
        if not ring:
            blocks = blocks.at[-1].set(0)
        return jnp.take(blocks, (jax.lax.axis_index("data") - 1) % devices, axis=0)

    return send(x)
