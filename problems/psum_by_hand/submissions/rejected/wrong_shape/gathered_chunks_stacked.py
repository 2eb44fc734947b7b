"""The chunks are stacked along a new dimension instead of being joined. Pass tiled=True to all_gather."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    length = parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        total = jnp.pad(local.sum(axis=0), (0, -length % mesh.shape["data"]))
        chunk = jax.lax.psum_scatter(total, "data", tiled=True)
        return jax.lax.all_gather(chunk, "data")[:length]

    return add_up(parts)
