"""Your sum is an all_reduce, so every device has all of it before the all_gather. Sum with reduce_scatter instead."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    devices, length = mesh.shape["data"], parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        total = jnp.pad(jax.lax.psum(local.sum(axis=0), "data"), (0, -length % devices))
        chunk = total.reshape(devices, -1)[jax.lax.axis_index("data")]
        return jax.lax.all_gather(chunk, "data", tiled=True)[:length]

    return add_up(parts)
