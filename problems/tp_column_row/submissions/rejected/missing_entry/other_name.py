"""Your function has another name; the grader calls tp_mlp."""

import jax


def megatron_mlp(mesh, w1, w2, x):
    return jax.nn.gelu(x @ w1) @ w2
