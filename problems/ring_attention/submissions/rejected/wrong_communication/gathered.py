"""Every device gathers the keys and values of the whole sequence. Let one block at a time pass by instead."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attention(mesh, q, k, v):
    def local(q, k, v):
        own = q.shape[0]
        k, v = (jax.lax.all_gather(part, "context", tiled=True) for part in (k, v))
        positions = jax.lax.axis_index("context") * own + jnp.arange(own)
        scores = jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(q.shape[-1])
        weights = jax.nn.softmax(jnp.where(jnp.arange(len(k)) <= positions[:, None], scores, -jnp.inf))
        return jnp.einsum("hqk,khd->qhd", weights, v)

    return jax.shard_map(local, mesh=mesh, in_specs=P("context"), out_specs=P("context"))(q, k, v)
