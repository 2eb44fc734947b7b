"""The devices add up arrays that are zero except for one shard. That is an all_reduce, with twice the traffic of an
all_gather."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(*[None] * dim, "fsdp"), out_specs=P())
    def rebuild(shard):
        start = jax.lax.axis_index("fsdp") * shard.shape[dim]
        padded = jax.lax.dynamic_update_slice_in_dim(jnp.zeros(w.shape, w.dtype), shard, start, axis=dim)
        return jax.lax.psum(padded, "fsdp")

    return rebuild(w)
