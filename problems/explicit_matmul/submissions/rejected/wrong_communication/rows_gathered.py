"""You made the rows of x whole, and split the result again. Every device then does the work of all rows."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def mlp(mesh, w1, w2, bias, x):
    x = jax.sharding.reshard(x, P(None, None))
    product = jnp.dot(jax.nn.relu(x @ w1), w2, out_sharding=P(None, None))
    return jax.sharding.reshard(product + jax.sharding.reshard(bias, P(None)), P("data", None))
