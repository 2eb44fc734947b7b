"""You took the sum of the rows for their mean."""

import jax
import jax.numpy as jnp
import variant
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def init(mesh, seed):
    state = jax.random.normal(jax.random.key(seed), (variant.width,))
    return jax.lax.with_sharding_constraint(state, NamedSharding(mesh, P("x")))


def step(mesh, state, x):
    moved = state + variant.rate * jnp.sum(x, axis=0)
    return jax.lax.with_sharding_constraint(moved, NamedSharding(mesh, P("x"))), jnp.mean(x)
