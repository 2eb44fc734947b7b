"""You split the sum into 8 chunks on every mesh; the number of devices is mesh.shape["data"], and not every mesh has 8."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    length = parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        rows = jnp.pad(local.sum(axis=0), (0, -length % 8)).reshape(8, -1)
        row = jax.lax.psum_scatter(rows, "data")
        return jax.lax.all_gather(row, "data").ravel()[:length]

    return add_up(parts)
