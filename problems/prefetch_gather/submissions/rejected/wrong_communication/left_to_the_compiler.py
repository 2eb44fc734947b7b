"""No gather is requested, so the compiler inserts it right where the product needs the weight."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def forward(mesh, weights, x):
    def layer(h, w):
        return jnp.tanh(h @ w), None

    h, _ = jax.lax.scan(layer, x, weights)
    return jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("fsdp")))
