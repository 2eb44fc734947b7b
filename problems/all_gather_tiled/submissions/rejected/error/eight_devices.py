"""You wrote the number 8 into the program; the size of the axis is mesh.shape["fsdp"], and not every mesh has 8."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(*[None] * dim, "fsdp"), out_specs=P(), check_vma=False)
    def rebuild(shard):
        shape = list(shard.shape)
        shape[dim] *= 8
        return jax.lax.all_gather(shard, "fsdp", axis=dim).reshape(shape)

    return rebuild(w)
