"""Queries are computed in four blocks, each with the keys up to its end, so later keys cost nothing."""

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
        q, k, v = to_heads(q), to_heads(k), to_heads(v)
        block = q.shape[1] // 4
        results = []
        for number in range(4):
            seen = (number + 1) * block
            scores = jnp.einsum("bqhd,bkhd->bhqk", q[:, seen - block : seen], k[:, :seen]) / jnp.sqrt(q.shape[-1])
            earlier = jnp.tril(jnp.ones((block, seen), bool), seen - block)
            weights = jax.nn.softmax(jnp.where(earlier, scores, -jnp.inf))
            results.append(jnp.einsum("bhqk,bkhd->bqhd", weights, v[:, :seen]))
        return to_positions(jnp.concatenate(results, axis=1))

    return local(q, k, v)
