"""The reduce_scatter of a backward pass: a loss that is linear in a gathered weight has these gradients."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rs_mean(mesh, g_stacked):
    @partial(jax.shard_map, mesh=mesh, in_specs=(P("fsdp"), P("fsdp")), out_specs=P("fsdp"))
    def average(weight, local):
        def loss(weight):
            whole = jax.lax.all_gather(weight, "fsdp", tiled=True)
            return jnp.vdot(local.mean(axis=0), whole) / mesh.shape["fsdp"]

        return jax.grad(loss)(weight)

    return average(jnp.zeros(g_stacked.shape[1:], g_stacked.dtype), g_stacked)
