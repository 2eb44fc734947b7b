"""Its own mesh, made from jax.devices(): a program finds exactly as many devices as its mesh has."""

from functools import partial

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    mesh = Mesh(jax.devices(), ("fsdp",))

    @partial(jax.shard_map, mesh=mesh, in_specs=P(*[None] * dim, "fsdp"), out_specs=P(), check_vma=False)
    def rebuild(shard):
        return jax.lax.all_gather(shard, "fsdp", axis=dim, tiled=True)

    return rebuild(w)
