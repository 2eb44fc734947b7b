"""Not a ring: in step s, each device sends its own block to the device s places further. The bytes are the same, but
most blocks do not go to a neighbour."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def ring_all_gather(mesh, x):
    devices = mesh.shape["data"]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def gather(block):
        me = jax.lax.axis_index("data")
        blocks = jnp.zeros((devices, *block.shape), block.dtype).at[me].set(block)
        for distance in range(1, devices):
            pairs = [(device, (device + distance) % devices) for device in range(devices)]
            blocks = blocks.at[me - distance].set(jax.lax.ppermute(block, "data", pairs))
        return blocks.reshape(x.shape)

    return gather(x)
