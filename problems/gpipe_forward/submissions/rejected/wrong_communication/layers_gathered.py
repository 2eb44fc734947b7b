"""You scanned over all layers: every device gathers the whole stack and computes all of it."""

import jax
import jax.numpy as jnp


def gpipe(mesh, layers, microbatches):
    return jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), microbatches, layers)[0]
