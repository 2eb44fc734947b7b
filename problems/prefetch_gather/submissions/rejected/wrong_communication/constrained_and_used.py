"""Each weight is constrained to be whole in the round that multiplies with it, so its gather and the product take turns."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def forward(mesh, weights, x):
    def layer(h, w):
        w = jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P()))
        return jax.lax.with_sharding_constraint(jnp.tanh(h @ w), NamedSharding(mesh, P("fsdp"))), None

    return jax.lax.scan(layer, x, weights)[0]
