"""Explicit axes: shardings are part of the types, and the second product states the sharding of its result."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def pair(w1, w2, x):
        hidden = jax.nn.gelu(x @ w1)
        return jnp.dot(hidden, w2, out_sharding=P(None, None))

    in_sharding = (P(None, "tensor"), P("tensor", None), P(None, None))
    return jax.sharding.explicit_axes(pair, axes=("tensor",), in_sharding=in_sharding)(w1, w2, x)
