"""Queries stay where they are, and every device receives the keys and values of all positions and heads. Exchange
positions for heads instead: then a device receives only its own heads."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def attention(mesh, q, k, v):
    result = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    return jax.lax.with_sharding_constraint(result, NamedSharding(mesh, P(None, "context")))
