"""The mask travels between the devices. Each device can draw the mask of its own rows."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

KEEP = 0.75


def block_with_dropout(mesh, up, down, x, key):
    keys = jax.vmap(partial(jax.random.fold_in, jax.random.wrap_key_data(key)))(jnp.arange(len(x)))
    kept = jax.vmap(lambda each: jax.random.bernoulli(each, KEEP, x.shape[1:]))(keys)
    kept = jax.lax.with_sharding_constraint(kept, NamedSharding(mesh, P("data")))
    kept = jax.lax.with_sharding_constraint(kept, NamedSharding(mesh, P()))
    result = jax.nn.gelu(x @ up) @ down
    out = x + jnp.where(kept, result / KEEP, 0.0)
    return jax.lax.with_sharding_constraint(out, NamedSharding(mesh, P("data")))
