"""You used the exact gelu with the error function; jax.nn.gelu is its tanh approximation by default."""

import jax


def tp_mlp(mesh, w1, w2, x):
    return jax.nn.gelu(x @ w1, approximate=False) @ w2
