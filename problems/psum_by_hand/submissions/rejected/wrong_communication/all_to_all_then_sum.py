"""You exchanged chunks with all_to_all and added them up afterwards; reduce_scatter adds on the way, in less memory."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    devices, length = mesh.shape["data"], parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        rows = jnp.pad(local.sum(axis=0), (0, -length % devices)).reshape(devices, -1)
        chunk = jax.lax.all_to_all(rows, "data", split_axis=0, concat_axis=0).sum(axis=0)
        return jax.lax.all_gather(chunk, "data", tiled=True)[:length]

    return add_up(parts)
