"""Each layer is sent to every device, which computes all of them; in a pipeline the activations travel."""

import jax.numpy as jnp


def gpipe(mesh, layers, microbatches):
    h = microbatches
    for w in layers:
        h = jnp.tanh(h @ w)
    return h
