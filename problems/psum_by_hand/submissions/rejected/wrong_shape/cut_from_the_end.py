"""If no padding is needed, your result is empty. x[:-padding] becomes x[:-0], which is empty. Cut to the length instead:
x[:length]."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    padding = -parts.shape[1] % mesh.shape["data"]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        chunk = jax.lax.psum_scatter(jnp.pad(local.sum(axis=0), (0, padding)), "data", tiled=True)
        return jax.lax.all_gather(chunk, "data", tiled=True)[:-padding]

    return add_up(parts)
