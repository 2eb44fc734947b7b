"""Each device returned the sum of its own vectors; nothing from other devices was added."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    length = parts.shape[1]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        return local.sum(axis=0)

    return add_up(parts)
