"""Every device gathers and computes the whole stack of layers, which is what a scan over the split dimension does."""

import jax
import jax.numpy as jnp


def gpipe(mesh, layers, microbatches):
    return jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), microbatches, layers)[0]
