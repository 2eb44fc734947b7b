"""Neither collective tiles: a row of the reshaped sum goes to each device, and the rows come back stacked."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    devices, length = mesh.shape["data"], parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        rows = jnp.pad(local.sum(axis=0), (0, -length % devices)).reshape(devices, -1)
        row = jax.lax.psum_scatter(rows, "data")
        return jax.lax.all_gather(row, "data").ravel()[:length]

    return add_up(parts)
