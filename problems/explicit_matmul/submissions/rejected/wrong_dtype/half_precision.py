"""The result is in bfloat16, but all inputs are in float32. A cast of a factor, or of the product, decides the dtype of
everything after it."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def mlp(mesh, w1, w2, bias, x):
    hidden = jax.nn.relu(x @ w1).astype(jnp.bfloat16)
    product = jnp.dot(hidden, w2.astype(jnp.bfloat16), out_sharding=P("data", None))
    return product + jax.sharding.reshard(bias, P(None)).astype(jnp.bfloat16)
