"""You returned the hidden layer with the result; the result is one array."""

import jax


def tp_mlp(mesh, w1, w2, x):
    hidden = jax.nn.gelu(x @ w1)
    return hidden, hidden @ w2
