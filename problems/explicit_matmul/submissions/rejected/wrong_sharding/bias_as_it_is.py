"""The columns of the result are split over `model`. Either you added the bias while it was split, and a sum has the
axes of both terms, or `model` is in the spec of the product."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def mlp(mesh, w1, w2, bias, x):
    hidden = jax.nn.relu(x @ w1)
    return jnp.dot(hidden, w2, out_sharding=P("data", None)) + bias
