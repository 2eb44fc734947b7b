"""Every device gathers the whole stack of layers and computes all of it, as a scan over the split dimension has it."""

import jax
import jax.numpy as jnp


def gpipe(mesh, layers, microbatches):
    return jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), microbatches, layers)[0]
