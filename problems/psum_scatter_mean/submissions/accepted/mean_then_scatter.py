"""Each device averages its own gradients; the sum of these means is divided by the number of devices."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rs_mean(mesh, g_stacked):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp", None, None), out_specs=P("fsdp", None))
    def average(local):
        total = jax.lax.psum_scatter(local.mean(axis=0), "fsdp", tiled=True)
        return total / jax.lax.axis_size("fsdp")

    return average(g_stacked)
