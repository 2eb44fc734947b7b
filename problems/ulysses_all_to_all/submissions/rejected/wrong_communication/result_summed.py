"""The result goes back by a reduce_scatter of arrays that are zero except for a device's own heads. Adding zeros changes
nothing, but they are sent."""

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


def attention(mesh, q, k, v):
    heads = q.shape[2]

    @partial(jax.shard_map, mesh=mesh, in_specs=P(None, "context"), out_specs=P(None, "context"))
    def local(q, k, v):
        result = attend(to_heads(q), to_heads(k), to_heads(v))
        whole = jax.lax.pcast(jnp.zeros((*result.shape[:2], heads, result.shape[-1])), "context", to="varying")
        start = jax.lax.axis_index("context") * result.shape[2]
        whole = jax.lax.dynamic_update_slice_in_dim(whole, result, start, 2)
        return jax.lax.psum_scatter(whole, "context", scatter_dimension=1, tiled=True)

    return local(q, k, v)
