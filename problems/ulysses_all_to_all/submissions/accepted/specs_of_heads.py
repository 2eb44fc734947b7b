"""The specs of shard_map ask for heads, so the exchanges happen around it."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def attend(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    earlier = jnp.tril(jnp.ones((q.shape[1], q.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(earlier, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def attention(mesh, q, k, v):
    heads = P(None, None, "context")
    result = jax.shard_map(attend, mesh=mesh, in_specs=heads, out_specs=heads)(q, k, v)
    return jax.lax.with_sharding_constraint(result, NamedSharding(mesh, P(None, "context")))
