"""Each device puts its own shard first, so only device 0 has the right order. With check_vma=False nothing compares
the copies."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(*[None] * dim, "fsdp"), out_specs=P(), check_vma=False)
    def rebuild(shard):
        whole = jax.lax.all_gather(shard, "fsdp", axis=dim, tiled=True)
        return jnp.roll(whole, -jax.lax.axis_index("fsdp") * shard.shape[dim], axis=dim)

    return rebuild(w)
