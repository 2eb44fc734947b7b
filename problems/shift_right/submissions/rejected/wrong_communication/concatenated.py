"""Every device received all blocks and kept one of them. It needs only the block of its left neighbour."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def shift_right(mesh, x, ring):
    rows = len(x) // mesh.shape["data"]
    first = x[-rows:] if ring else jnp.zeros_like(x[-rows:])
    whole = jax.lax.with_sharding_constraint(jnp.concatenate([first, x[:-rows]]), NamedSharding(mesh, P()))
    return jax.lax.with_sharding_constraint(whole, NamedSharding(mesh, P("data")))
