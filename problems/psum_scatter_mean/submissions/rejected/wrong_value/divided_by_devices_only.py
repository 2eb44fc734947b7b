"""You divided the sum of all gradients by the number of devices, but each device has several gradients."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rs_mean(mesh, g_stacked):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=P("fsdp"))
    def average(local):
        return jax.lax.psum_scatter(local.sum(axis=0), "fsdp", tiled=True) / mesh.shape["fsdp"]

    return average(g_stacked)
