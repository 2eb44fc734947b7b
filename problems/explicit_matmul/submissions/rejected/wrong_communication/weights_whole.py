"""You made both weights whole, so that every product is local. The weights are far larger than the one product that has
to be summed."""

import jax
from jax.sharding import PartitionSpec as P

def mlp(mesh, w1, w2, bias, x):
    w1, w2 = jax.sharding.reshard(w1, P(None, None)), jax.sharding.reshard(w2, P(None, None))
    return jax.nn.relu(x @ w1) @ w2 + jax.sharding.reshard(bias, P(None))
