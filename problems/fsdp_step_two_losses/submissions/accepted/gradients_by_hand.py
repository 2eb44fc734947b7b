"""Weights taken out of the layer, gradients derived on paper, two matrix products."""

import jax.numpy as jnp
from flax import nnx


def fsdp_step2(seed, x, y, num_shards, lr):
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(int(seed)))
    kernel, bias = model.kernel[...], model.bias[...]
    x = x.astype(kernel.dtype)
    error = x @ kernel + bias - y
    slope = 2 * error / error.size
    kernel, bias = kernel - lr * x.T @ slope, bias - lr * slope.sum(axis=0)
    new_error = x @ kernel + bias - y
    return jnp.mean(jnp.stack([error, new_error]) ** 2, axis=(1, 2))
