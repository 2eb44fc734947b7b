"""Partial sums travel to the left. The blocks are put in the order of their use first, and a scan takes one in each
step."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh, terms):
    devices = mesh.shape["data"]
    to_the_left = [(device, (device - 1) % devices) for device in range(devices)]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def add_up(local):
        blocks = local.sum(axis=0).reshape(devices, -1, local.shape[2])
        # Block me + 1 first, then me + 2, …, and the device's own block last.
        blocks = jnp.roll(blocks, -jax.lax.axis_index("data") - 1, axis=0)

        def step(total, block):
            return jax.lax.ppermute(total, "data", to_the_left) + block, None

        return jax.lax.scan(step, blocks[0], blocks[1:])[0]

    return add_up(terms)
