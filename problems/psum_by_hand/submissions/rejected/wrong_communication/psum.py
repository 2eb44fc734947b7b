"""Your sum is one all_reduce, from psum or from XLA's partitioner. Here you write its two halves yourself."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())
    def add_up(local):
        return jax.lax.psum(local.sum(axis=0), "data")

    return add_up(parts)
