"""There are n permutes: the last one returns each block to the device that it came from. n - 1 permutes bring a
device all blocks except its own, which it has."""

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

        def step(number, state):
            passing, blocks = state
            blocks = blocks.at[(me - number) % devices].set(passing)
            return jax.lax.ppermute(passing, "data", to_the_right), blocks

        blocks = jnp.zeros((devices, *block.shape), block.dtype)
        return jax.lax.fori_loop(0, devices, step, (block, blocks))[1].reshape(x.shape)

    return gather(x)
