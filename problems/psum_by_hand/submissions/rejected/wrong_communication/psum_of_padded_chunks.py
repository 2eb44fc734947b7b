"""You joined the chunks by a second sum, of vectors that are zero except for one chunk. That is an all_reduce, with
twice the traffic of an all_gather."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    length = parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())
    def add_up(local):
        total = jnp.pad(local.sum(axis=0), (0, -length % mesh.shape["data"]))
        chunk = jax.lax.psum_scatter(total, "data", tiled=True)
        start = jax.lax.axis_index("data") * len(chunk)
        alone = jax.lax.dynamic_update_slice_in_dim(jnp.zeros_like(total), chunk, start, axis=0)
        return jax.lax.psum(alone, "data")[:length]

    return add_up(parts)
