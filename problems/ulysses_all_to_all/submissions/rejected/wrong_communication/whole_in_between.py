"""Every device gathers q, k and v, and keeps some heads of them. An all_to_all sends a device only what it keeps."""

from functools import partial

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
    @partial(jax.shard_map, mesh=mesh, in_specs=P(), out_specs=P(None, None, "context"))
    def local(q, k, v):
        own = q.shape[2] // mesh.shape["context"]
        start = jax.lax.axis_index("context") * own
        return attend(*(jax.lax.dynamic_slice_in_dim(part, start, own, axis=2) for part in (q, k, v)))

    return jax.lax.with_sharding_constraint(local(q, k, v), NamedSharding(mesh, P(None, "context")))
