"""The pair as an nnx module around the given weights; layouts come in with them."""

import jax
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, w1, w2):
        self.w1 = nnx.Param(w1)
        self.w2 = nnx.Param(w2)

    def __call__(self, x):
        return jax.nn.gelu(x @ self.w1) @ self.w2


def tp_mlp(mesh, w1, w2, x):
    return MLP(w1, w2)(x)
