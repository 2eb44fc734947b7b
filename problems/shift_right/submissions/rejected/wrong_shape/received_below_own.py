"""The result has twice as many rows: each device returned its own block and the one that arrived. Return only the
second."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def shift_right(mesh, x, ring):
    devices = mesh.shape["data"]
    pairs = [(device, (device + 1) % devices) for device in range(devices if ring else devices - 1)]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def send(block):
        return jnp.concatenate((block, jax.lax.ppermute(block, "data", pairs)))

    return send(x)
