"""Blocks are in the reverse order: device k has the sum of block n - 1 - k. `P("data")` puts block k on device k."""

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
        own = own[::-1]
        total = own[(me - 1) % devices]
        for hop in range(2, devices + 1):
            total = jax.lax.ppermute(total, "data", to_the_right) + own[(me - hop) % devices]
        return total

    return add_up(terms)
