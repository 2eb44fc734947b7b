"""Each layer is sent to every device, and each device computes all layers; in a pipeline, the activations travel."""

import jax.numpy as jnp


def gpipe(mesh, layers, microbatches):
    h = microbatches
    for w in layers:
        h = jnp.tanh(h @ w)
    return h
