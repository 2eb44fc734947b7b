"""You scattered every vector of a device separately. Add them up first, and one vector per device is scattered."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    length = parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        padded = jnp.pad(local, ((0, 0), (0, -length % mesh.shape["data"])))
        chunks = jax.lax.psum_scatter(padded, "data", scatter_dimension=1, tiled=True)
        return jax.lax.all_gather(chunks.sum(axis=0), "data", tiled=True)[:length]

    return add_up(parts)
