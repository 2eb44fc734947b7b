"""You returned bfloat16; the result is float32, like the inputs."""

import jax
import jax.numpy as jnp


def tp_mlp(mesh, w1, w2, x):
    return (jax.nn.gelu(x @ w1) @ w2).astype(jnp.bfloat16)
