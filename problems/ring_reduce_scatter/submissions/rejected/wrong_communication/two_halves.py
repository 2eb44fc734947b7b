"""Each partial sum travels in two halves, so there are twice as many permutes. The bytes are the same, but this
problem requires n - 1 permutes of one block."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh, terms):
    devices = mesh.shape["data"]
    right = [(device, (device + 1) % devices) for device in range(devices)]
    left = [(destination, source) for source, destination in right]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def add_up(local):
        me = jax.lax.axis_index("data")
        own = local.sum(axis=0).reshape(devices, -1, local.shape[2])
        width = local.shape[2] // 2
        one, other = own[(me - 1) % devices, :, :width], own[(me + 1) % devices, :, width:]
        for hop in range(2, devices + 1):
            one = jax.lax.ppermute(one, "data", right) + own[(me - hop) % devices, :, :width]
            other = jax.lax.ppermute(other, "data", left) + own[(me + hop) % devices, :, width:]
        return jnp.concatenate((one, other), axis=1)

    return add_up(terms)
