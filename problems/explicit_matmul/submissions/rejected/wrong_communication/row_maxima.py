"""The largest hidden unit of each row is exchanged in addition to the product, to check that all are finite. Each
device can check its own hidden units."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    hidden = jax.nn.relu(x @ w1)
    largest = hidden.max(axis=1)
    product = jnp.dot(hidden, w2, out_sharding=P("data", None))
    product = jnp.where(jnp.isfinite(largest)[:, None], product, jnp.nan)
    return product + jax.sharding.reshard(bias, P(None))
