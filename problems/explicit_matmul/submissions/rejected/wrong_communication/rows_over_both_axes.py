"""Each device gets all rows, over both axes at once, to check that all of them are finite. No row needs another row."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    rows = jax.sharding.reshard(jax.sharding.reshard(x, P(("data", "model"), None)), P(None, None))
    product = jnp.dot(jax.nn.relu(x @ w1), w2, out_sharding=P("data", None))
    product = jnp.where(jnp.isfinite(rows).all(), product, jnp.nan)
    return product + jax.sharding.reshard(bias, P(None))
