"""The mask is not that of a key for each row. One possible cause: one draw of shape (B, D) for the whole batch.
Fold the number of each row into the key."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

KEEP = 0.75


def block_with_dropout(mesh, up, down, x, key):
    kept = jax.random.bernoulli(jax.random.wrap_key_data(key), KEEP, x.shape)
    result = jax.nn.gelu(x @ up) @ down
    out = x + jnp.where(kept, result / KEEP, 0.0)
    return jax.lax.with_sharding_constraint(out, NamedSharding(mesh, P("data")))
