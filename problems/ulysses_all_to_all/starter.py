import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal attention of whole sequences: each position sees itself and those before it.

    Args:
      q, k, v: (B, T, heads, D), for any number of heads.
    Returns:
      (B, T, heads, D).
    """
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    earlier = jnp.tril(jnp.ones((q.shape[1], q.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(earlier, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def attention(mesh: Mesh, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal attention on a mesh of one axis, "context".

    Args:
      q, k, v: (B, T, H, D), positions split over the devices: P(None, "context").
    Returns:
      (B, T, H, D), positions split over the devices.
    """

    # The numbers are right. But every device fetches all positions and computes all heads, to keep a few positions.
    def local(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        own = q.shape[1]
        q, k, v = (jax.lax.all_gather(each, "context", axis=1, tiled=True) for each in (q, k, v))
        start = jax.lax.axis_index("context") * own
        return jax.lax.dynamic_slice_in_dim(attend(q, k, v), start, own, axis=1)

    positions = P(None, "context")
    return jax.shard_map(local, mesh=mesh, in_specs=positions, out_specs=positions)(q, k, v)
