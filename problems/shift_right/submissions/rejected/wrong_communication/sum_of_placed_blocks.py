"""The blocks were moved by a sum over devices of arrays that are zero except for one block. The sum sends these
zeros, too."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def shift_right(mesh, x, ring):
    devices = mesh.shape["data"]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def send(block):
        me = jax.lax.axis_index("data")
        place = (me + 1) % devices if ring else me + 1
        # An index past the end places nothing.
        blocks = jnp.zeros((devices, *block.shape), block.dtype).at[place].set(block, mode="drop")
        return jax.lax.psum_scatter(blocks, "data")

    return send(x)
