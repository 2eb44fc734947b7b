"""Positions are out of order: the first positions of all devices come first, then all second ones. A device's positions
are consecutive in the sequence."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attend(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    earlier = jnp.tril(jnp.ones((q.shape[1], q.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(earlier, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def attention(mesh, q, k, v):
    devices = mesh.shape["context"]

    @partial(jax.shard_map, mesh=mesh, in_specs=P(None, "context"), out_specs=P(None, "context"))
    def local(q, k, v):
        def to_heads(part):
            blocks = part.reshape(*part.shape[:2], devices, -1, part.shape[-1])
            arrived = jax.lax.all_to_all(blocks, "context", split_axis=2, concat_axis=2)
            return arrived.reshape(part.shape[0], -1, *arrived.shape[3:])

        def to_positions(part):
            blocks = part.reshape(part.shape[0], -1, devices, *part.shape[2:])
            arrived = jax.lax.all_to_all(blocks, "context", split_axis=2, concat_axis=2)
            return arrived.reshape(*arrived.shape[:2], -1, part.shape[-1])

        return to_positions(attend(to_heads(q), to_heads(k), to_heads(v)))

    return local(q, k, v)
