"""The bias is gathered once for each half of the rows. It is the same for all of them, so gather it once."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    product = jnp.dot(jax.nn.relu(x @ w1), w2, out_sharding=P("data", None))
    early = jax.sharding.reshard(bias, P(None))
    late = jax.sharding.reshard(jnp.negative(bias), P(None))
    first = jnp.arange(len(x)) < len(x) // 2
    return product + jnp.where(first[:, None], early, -late)
