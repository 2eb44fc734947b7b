"""expect: rejected/divergent_collective|time_limit; says: "collective". Has only one device reach a collective, so that the other waits forever."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec


def add_one(x):
    mesh = Mesh(np.asarray(jax.devices()), "d")

    @functools.partial(
        jax.shard_map, mesh=mesh, in_specs=PartitionSpec("d"), out_specs=PartitionSpec("d"), check_vma=False
    )
    def lonely(y):
        return jax.lax.cond(jax.lax.axis_index("d") == 0, lambda z: jax.lax.psum(z, "d"), lambda z: z, y)

    return jnp.asarray(jax.jit(lonely)(x)) + 1
