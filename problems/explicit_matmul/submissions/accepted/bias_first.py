"""Every sharding is named, also those that JAX would find by itself."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def mlp(mesh, w1, w2, bias, x):
    bias = jax.sharding.reshard(bias, P(None))
    hidden = jax.nn.relu(jnp.dot(x, w1, out_sharding=P("data", "model")))
    return bias + jnp.dot(hidden, w2, out_sharding=P("data", None))
