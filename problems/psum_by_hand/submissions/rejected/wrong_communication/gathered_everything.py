"""You gathered a whole vector from each device and added them up locally: n vectors travel to every device instead of
one."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        return jax.lax.all_gather(local.sum(axis=0), "data").sum(axis=0)

    return add_up(parts)
