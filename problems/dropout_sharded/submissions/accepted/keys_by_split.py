"""With the default generator, `jax.random.split` makes the same keys as `fold_in` of 0, 1, 2 and so on."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

KEEP = 0.75


def block_with_dropout(mesh, up, down, x, key):
    keys = jax.random.split(jax.random.wrap_key_data(key), len(x))
    kept = jax.vmap(lambda each: jax.random.bernoulli(each, KEEP, x.shape[1:]))(keys)
    result = jax.nn.gelu(x @ up) @ down
    out = x + jnp.where(kept, result / KEEP, 0.0)
    return jax.lax.with_sharding_constraint(out, NamedSharding(mesh, P("data")))
