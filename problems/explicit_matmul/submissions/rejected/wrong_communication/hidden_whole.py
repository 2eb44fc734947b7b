"""You made the hidden layer and the second weight whole. The hidden layer is eight times as wide as the product."""

import jax
from jax.sharding import PartitionSpec as P

def mlp(mesh, w1, w2, bias, x):
    hidden = jax.sharding.reshard(jax.nn.relu(x @ w1), P("data", None))
    w2 = jax.sharding.reshard(w2, P(None, None))
    return hidden @ w2 + jax.sharding.reshard(bias, P(None))
