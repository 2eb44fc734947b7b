"""Add up what is here, reduce_scatter over the devices, divide once by the number of gradients."""

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def rs_mean(mesh: Mesh, g_stacked: jax.Array) -> jax.Array:
    """Average `g_stacked` (M, D_in, D_out), split along M, into (D_in, D_out), split along D_in, both over fsdp."""

    def average(local: jax.Array) -> jax.Array:
        # (M / devices, D_in, D_out) -> (D_in, D_out), whole and different on each device -> (D_in / devices, D_out)
        return jax.lax.psum_scatter(local.sum(axis=0), "fsdp", scatter_dimension=0, tiled=True) / len(g_stacked)

    return jax.shard_map(average, mesh=mesh, in_specs=P("fsdp"), out_specs=P("fsdp"))(g_stacked)
