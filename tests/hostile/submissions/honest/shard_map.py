"""expect: accepted; says: "2 devices". Spreads the work over all devices by shard_map, with a collective."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.asarray(jax.devices()), "d")
print(len(jax.devices()), "devices")


@jax.jit
@functools.partial(jax.shard_map, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
def spread(x):
    return x + jax.lax.pmean(jnp.ones(()), "d")


def add_one(x):
    return spread(x)
