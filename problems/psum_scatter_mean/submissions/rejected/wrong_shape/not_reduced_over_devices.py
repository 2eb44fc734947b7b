"""You returned each device's own mean under P("fsdp"), so whole gradients were concatenated instead of shards."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rs_mean(mesh, g_stacked):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=P("fsdp"))
    def average(local):
        return local.mean(axis=0)

    return average(g_stacked)
