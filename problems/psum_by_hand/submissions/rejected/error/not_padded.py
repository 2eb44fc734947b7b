"""You did not pad the sum. psum_scatter splits it into one equal chunk for each device, so the number of devices has
to divide its length."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        chunk = jax.lax.psum_scatter(local.sum(axis=0), "data", tiled=True)
        return jax.lax.all_gather(chunk, "data", tiled=True)

    return add_up(parts)
