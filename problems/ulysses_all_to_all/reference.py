"""Exchange positions for heads, compute the attention of whole sequences, and exchange heads for positions."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal attention of whole sequences, (B, T, heads, D) each."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    earlier = jnp.tril(jnp.ones((q.shape[1], q.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(earlier, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def attention(mesh: Mesh, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal attention of `q`, `k` and `v` (B, T, H, D), whose positions are split over the mesh axis context."""

    def to_heads(part: jax.Array) -> jax.Array:
        # (B, T / devices, H, D) -> (B, T, H / devices, D)
        return jax.lax.all_to_all(part, "context", split_axis=2, concat_axis=1, tiled=True)

    def to_positions(part: jax.Array) -> jax.Array:
        # (B, T, H / devices, D) -> (B, T / devices, H, D)
        return jax.lax.all_to_all(part, "context", split_axis=1, concat_axis=2, tiled=True)

    def local(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        return to_positions(attend(to_heads(q), to_heads(k), to_heads(v)))

    positions = P(None, "context")
    return jax.shard_map(local, mesh=mesh, in_specs=positions, out_specs=positions)(q, k, v)
