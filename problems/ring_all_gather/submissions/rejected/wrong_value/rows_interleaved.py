"""Rows are out of order: the first rows of all blocks come first, then all second ones. The rows of a block belong
together."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def ring_all_gather(mesh, x):
    devices = mesh.shape["data"]
    to_the_right = [(device, (device + 1) % devices) for device in range(devices)]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def gather(block):
        me = jax.lax.axis_index("data")
        rows = jnp.zeros((len(block), devices, x.shape[1]), block.dtype).at[:, me].set(block)
        for step in range(1, devices):
            block = jax.lax.ppermute(block, "data", to_the_right)
            rows = rows.at[:, (me - step) % devices].set(block)
        return rows.reshape(x.shape)

    return gather(x)
