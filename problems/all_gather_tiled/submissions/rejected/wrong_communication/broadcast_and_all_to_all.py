"""You made a copy of each shard for every device and exchanged the copies by all_to_all; an all_gather sends the shards
without copying them first."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(*[None] * dim, "fsdp"), out_specs=P(), check_vma=False)
    def rebuild(shard):
        copies = jnp.concatenate([shard] * mesh.shape["fsdp"], axis=dim)
        return jax.lax.all_to_all(copies, "fsdp", split_axis=dim, concat_axis=dim, tiled=True)

    return rebuild(w)
