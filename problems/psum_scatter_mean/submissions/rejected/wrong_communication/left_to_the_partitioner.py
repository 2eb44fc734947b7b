"""Your sum is an all_reduce, from psum or from the partitioner: all devices receive all of it and discard most of
it."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def rs_mean(mesh, g_stacked):
    return jax.lax.with_sharding_constraint(g_stacked.mean(axis=0), NamedSharding(mesh, P("fsdp")))
