"""Every sharding is named, also those that JAX would find by itself."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

IN = (P(None, "model"), P("model", None), P("model"), P("data", None))


def mlp(mesh, w1, w2, bias, x):
    def explicit(w1, w2, bias, x):
        bias = jax.sharding.reshard(bias, P(None))
        hidden = jax.nn.relu(jnp.dot(x, w1, out_sharding=P("data", "model")))
        return bias + jnp.dot(hidden, w2, out_sharding=P("data", None))

    return jax.sharding.explicit_axes(explicit, axes=("data", "model"), in_sharding=IN)(w1, w2, bias, x)
