"""The terms of one device are in the sum twice, and the sum is on the wrong device. One possible cause: the loop has
n steps instead of n - 1."""

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

        def step(number, total):
            return jax.lax.ppermute(total, "data", to_the_right) + own[(me - number - 1) % devices]

        return jax.lax.fori_loop(1, devices + 1, step, own[(me - 1) % devices])

    return add_up(terms)
