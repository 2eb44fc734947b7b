"""Your result was rounded to bfloat16 on the way: 8 bits of precision are left."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attend(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    earlier = jnp.tril(jnp.ones((q.shape[1], q.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(earlier, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def to_heads(part):
    return jax.lax.all_to_all(part, "context", split_axis=2, concat_axis=1, tiled=True)


def to_positions(part):
    return jax.lax.all_to_all(part, "context", split_axis=1, concat_axis=2, tiled=True)


def attention(mesh, q, k, v):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(None, "context"), out_specs=P(None, "context"))
    def local(q, k, v):
        half = jnp.bfloat16
        q, k, v = (to_heads(part.astype(half)).astype(jnp.float32) for part in (q, k, v))
        return to_positions(attend(q, k, v).astype(half)).astype(jnp.float32)

    return local(q, k, v)
