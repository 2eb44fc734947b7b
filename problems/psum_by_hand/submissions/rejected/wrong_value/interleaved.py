"""Elements are out of order: each chunk consists of every n-th element, and the chunks are joined as if their elements
were consecutive."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    length = parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        total = jnp.pad(local.sum(axis=0), (0, -length % mesh.shape["data"]))
        chunk = jax.lax.psum_scatter(total.reshape(-1, mesh.shape["data"]), "data", scatter_dimension=1)
        return jax.lax.all_gather(chunk, "data", tiled=True)[:length]

    return add_up(parts)
