"""You declared P() for the result of a plain all_gather, which JAX cannot verify: use to="invarying" or
check_vma=False."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(*[None] * dim, "fsdp"), out_specs=P())
    def rebuild(shard):
        return jax.lax.all_gather(shard, "fsdp", axis=dim, tiled=True)

    return rebuild(w)
