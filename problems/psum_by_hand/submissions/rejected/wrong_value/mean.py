"""Your result is the mean of all vectors. An all_reduce returns their sum, so do not divide."""

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
        return jax.lax.all_gather(chunk, "data", tiled=True)[:length] / len(parts)

    return add_up(parts)
