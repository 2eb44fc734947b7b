"""The result is in bfloat16, but all inputs are in float32. A cast of a factor, or of the product, decides the dtype of
everything after it."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

IN = (P(None, "model"), P("model", None), P("model"), P("data", None))


def mlp(mesh, w1, w2, bias, x):
    def explicit(w1, w2, bias, x):
        hidden = jax.nn.relu(x @ w1).astype(jnp.bfloat16)
        product = jnp.dot(hidden, w2.astype(jnp.bfloat16), out_sharding=P("data", None))
        return product + jax.sharding.reshard(bias, P(None)).astype(jnp.bfloat16)

    return jax.sharding.explicit_axes(explicit, axes=("data", "model"), in_sharding=IN)(w1, w2, bias, x)
