"""Nothing in your program moves w, as jax.device_put does not inside of one: each device still holds one shard."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def gather(mesh, w, dim):
    return jax.device_put(w, NamedSharding(mesh, P()))
