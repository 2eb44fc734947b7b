"""You averaged on the device and then divided by all M gradients, so the local gradients were counted twice."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rs_mean(mesh, g_stacked):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=P("fsdp"))
    def average(local):
        return jax.lax.psum_scatter(local.mean(axis=0), "fsdp", tiled=True) / len(g_stacked)

    return average(g_stacked)
