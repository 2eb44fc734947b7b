"""Every device gathers the keys and values of the whole sequence. Let one block at a time pass by instead."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def attention(mesh, q, k, v):
    result = jax.nn.dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
    return jax.lax.with_sharding_constraint(result, NamedSharding(mesh, P("context")))
