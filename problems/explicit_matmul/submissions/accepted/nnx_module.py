"""An nnx module whose second layer names the sharding of its product."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import PartitionSpec as P


class MLP(nnx.Module):
    def __init__(self, w1, w2, bias):
        self.w1, self.w2, self.bias = nnx.Param(w1), nnx.Param(w2), nnx.Param(bias)

    def __call__(self, x):
        hidden = nnx.relu(x @ self.w1[...])
        product = jnp.dot(hidden, self.w2[...], out_sharding=P("data", None))
        return product + jax.sharding.reshard(self.bias[...], P(None))


def mlp(mesh, w1, w2, bias, x):
    return MLP(w1, w2, bias)(x)
