"""The elements are in the order of shards stacked along a new first dimension. That is the order of w only if
dimension 0 is split."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(*[None] * dim, "fsdp"), out_specs=P(), check_vma=False)
    def rebuild(shard):
        return jax.lax.all_gather(shard, "fsdp").reshape(w.shape)

    return rebuild(w)
