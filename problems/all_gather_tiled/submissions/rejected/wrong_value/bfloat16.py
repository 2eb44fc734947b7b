"""You sent the numbers as bfloat16, which halves the bytes and loses 16 bits of every number."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(*[None] * dim, "fsdp"), out_specs=P(), check_vma=False)
    def rebuild(shard):
        return jax.lax.all_gather(shard.astype(jnp.bfloat16), "fsdp", axis=dim, tiled=True).astype(w.dtype)

    return rebuild(w)
