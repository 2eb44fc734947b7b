"""psum_scatter without tiled=True takes a dimension as long as the axis and removes it: one row of blocks a device."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rs_mean(mesh, g_stacked):
    gradients, d_in, d_out = g_stacked.shape
    devices = mesh.shape["fsdp"]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=P("fsdp"))
    def average(local):
        blocks = local.sum(axis=0).reshape(devices, d_in // devices, d_out)
        return jax.lax.psum_scatter(blocks, "fsdp") / gradients

    return average(g_stacked)
