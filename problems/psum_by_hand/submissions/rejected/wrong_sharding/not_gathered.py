"""The second half, the all_gather, is missing. If the number of devices divides the length, each device returns only its
own chunk."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    length = parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def scatter(local):
        total = jnp.pad(local.sum(axis=0), (0, -length % mesh.shape["data"]))
        return jax.lax.psum_scatter(total, "data", tiled=True)

    return scatter(parts)[:length]
