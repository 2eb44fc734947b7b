"""The sharding of the second product is named, and the bias is gathered before it is added."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def mlp(mesh: Mesh, w1: jax.Array, w2: jax.Array, bias: jax.Array, x: jax.Array) -> jax.Array:
    """relu(x @ w1) @ w2 + bias: a sum over model, and no other communication except for the small bias."""
    hidden = jax.nn.relu(x @ w1)
    product = jnp.dot(hidden, w2, out_sharding=P("data", None))
    return product + jax.sharding.reshard(bias, P(None))
