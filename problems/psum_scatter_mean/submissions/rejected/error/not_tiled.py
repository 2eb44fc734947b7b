"""You left out tiled=True. psum_scatter then requires a dimension exactly as long as the axis, and removes it."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rs_mean(mesh, g_stacked):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=P("fsdp"))
    def average(local):
        return jax.lax.psum_scatter(local.sum(axis=0), "fsdp") / len(g_stacked)

    return average(g_stacked)
