"""all_gather with to="invarying" declares that every device gets the same, so shard_map can verify out_specs=P()."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(*[None] * dim, "fsdp"), out_specs=P())
    def rebuild(shard):
        return jax.lax.all_gather(shard, "fsdp", axis=dim, tiled=True, to="invarying")

    return rebuild(w)
