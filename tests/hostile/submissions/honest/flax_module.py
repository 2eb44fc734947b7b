"""expect: accepted. Adds by a layer whose bias is one."""

import jax.numpy as jnp
from flax import nnx


def add_one(x):
    layer = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    layer.kernel.value = jnp.eye(2)
    layer.bias.value = jnp.ones(2)
    return layer(x)
