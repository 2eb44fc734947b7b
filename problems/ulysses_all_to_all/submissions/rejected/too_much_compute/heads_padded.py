"""The exchanges are right, but each device computes as many heads as there are, most of them of zeros."""

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
    heads = q.shape[2]

    @partial(jax.shard_map, mesh=mesh, in_specs=P(None, "context"), out_specs=P(None, "context"))
    def local(q, k, v):
        def placed(part):
            whole = jnp.zeros((*part.shape[:2], heads, part.shape[-1]))
            return jax.lax.dynamic_update_slice_in_dim(jax.lax.pcast(whole, "context", to="varying"), part, start(part), 2)

        def start(part):
            return jax.lax.axis_index("context") * part.shape[2]

        q, k, v = to_heads(q), to_heads(k), to_heads(v)
        result = attend(placed(q), placed(k), placed(v))
        return to_positions(jax.lax.dynamic_slice_in_dim(result, start(q), q.shape[2], 2))

    return local(q, k, v)
