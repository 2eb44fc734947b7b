"""You made the hidden layer and the second weight whole. The hidden layer is eight times as wide as the product."""

import jax
from jax.sharding import PartitionSpec as P

IN = (P(None, "model"), P("model", None), P("model"), P("data", None))


def mlp(mesh, w1, w2, bias, x):
    def explicit(w1, w2, bias, x):
        hidden = jax.sharding.reshard(jax.nn.relu(x @ w1), P("data", None))
        w2 = jax.sharding.reshard(w2, P(None, None))
        return hidden @ w2 + jax.sharding.reshard(bias, P(None))

    return jax.sharding.explicit_axes(explicit, axes=("data", "model"), in_sharding=IN)(w1, w2, bias, x)
