"""A Python loop collects the blocks in a list, which is rolled into the order of the array at the end."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def ring_all_gather(mesh, x):
    devices = mesh.shape["data"]
    to_the_right = [(device, (device + 1) % devices) for device in range(devices)]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def gather(block):
        blocks = [block]
        while len(blocks) < devices:
            blocks.append(jax.lax.ppermute(blocks[-1], "data", to_the_right))
        # Device k has the blocks k, k - 1, …: reversed, they end in block k.
        ordered = jnp.roll(jnp.stack(blocks[::-1]), jax.lax.axis_index("data") + 1, axis=0)
        return ordered.reshape(x.shape)

    return gather(x)
