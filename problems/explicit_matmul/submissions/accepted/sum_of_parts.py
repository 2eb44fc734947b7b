"""The hidden layer is cut into as many parts as model has devices, and the parts of the product are added up by a sum."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    parts = mesh.shape["model"]
    hidden = jax.nn.relu(x @ w1)
    hidden = jax.lax.reshape(hidden, (len(x), parts, hidden.shape[1] // parts), out_sharding=P("data", "model", None))
    w2 = jax.lax.reshape(w2, (parts, w2.shape[0] // parts, w2.shape[1]), out_sharding=P("model", None, None))
    products = jnp.einsum("bph,phd->pbd", hidden, w2)
    return products.sum(axis=0) + jax.sharding.reshard(bias, P(None))
