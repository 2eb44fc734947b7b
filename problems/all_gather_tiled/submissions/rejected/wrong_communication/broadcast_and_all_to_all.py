"""You copied each shard once for every device and exchanged the copies; an all_gather needs no copies to send."""

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
