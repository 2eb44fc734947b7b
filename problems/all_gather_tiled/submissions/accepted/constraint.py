"""No collective written: a constraint says that w is needed whole, and the partitioner inserts the all_gather."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    return jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P()))
