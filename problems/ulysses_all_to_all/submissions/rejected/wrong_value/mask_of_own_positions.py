"""Queries see too many positions. One possible cause: the mask was shifted by the device's first position, although each
device has all positions after the exchange."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def to_heads(part):
    return jax.lax.all_to_all(part, "context", split_axis=2, concat_axis=1, tiled=True)


def to_positions(part):
    return jax.lax.all_to_all(part, "context", split_axis=1, concat_axis=2, tiled=True)


def attention(mesh, q, k, v):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(None, "context"), out_specs=P(None, "context"))
    def local(q, k, v):
        first = jax.lax.axis_index("context") * q.shape[1]
        scores = jnp.einsum("bqhd,bkhd->bhqk", to_heads(q), to_heads(k)) / jnp.sqrt(q.shape[-1])
        position = jnp.arange(scores.shape[-1])
        earlier = position <= position[:, None] + first
        weights = jax.nn.softmax(jnp.where(earlier, scores, -jnp.inf))
        return to_positions(jnp.einsum("bhqk,bkhd->bqhd", weights, to_heads(v)))

    return local(q, k, v)
