"""Each row moved by one row. Each block has to move by one block, which is R / n rows."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def shift_right(mesh, x, ring):
    moved = jnp.roll(x, 1, axis=0) if ring else jnp.pad(x[:-1], ((1, 0), (0, 0)))
    return jax.lax.with_sharding_constraint(moved, NamedSharding(mesh, P("data")))
