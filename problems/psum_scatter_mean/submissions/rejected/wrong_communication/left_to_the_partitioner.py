"""Your sum is an all_reduce, by psum or by the partitioner: all devices get all of it, to throw most of it away."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def rs_mean(mesh, g_stacked):
    return jax.lax.with_sharding_constraint(g_stacked.mean(axis=0), NamedSharding(mesh, P("fsdp")))
