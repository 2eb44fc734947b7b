"""Device 0 is the source of two pairs. In one list, each device may be the source of one pair and the destination of
one."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def shift_right(mesh, x, ring):
    devices = mesh.shape["data"]
    pairs = [(device, device + 1) for device in range(devices - 1)]
    pairs.append((devices - 1, 0) if ring else (0, 0))

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def send(block):
        return jax.lax.ppermute(jnp.asarray(block), "data", pairs)

    return send(x)
