"""Each device computes its own query heads with the one key and value head that all of them share, then psum."""

import math

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal attention: q (B, T, heads, E), k and v (B, T, kv heads, E). Consecutive query heads share a kv head."""
    positions = jnp.arange(q.shape[1])
    grouped = q.reshape(*q.shape[:2], k.shape[2], -1, q.shape[3])
    scores = jnp.einsum("btkge,bske->bkgts", grouped, k) / math.sqrt(q.shape[3])
    scores = jnp.where(positions[:, None] >= positions, scores, -jnp.inf)
    return jnp.einsum("bkgts,bske->btkge", jax.nn.softmax(scores), v).reshape(q.shape)


def tp_attention(mesh: Mesh, wq: jax.Array, wk: jax.Array, wv: jax.Array, wo: jax.Array, x: jax.Array) -> jax.Array:
    """Attention with the query heads of wq and wo split over the mesh axis "tensor", and every kv head everywhere."""
    sharing = mesh.shape["tensor"] // wk.shape[1]

    def local(wq: jax.Array, wk: jax.Array, wv: jax.Array, wo: jax.Array, x: jax.Array) -> jax.Array:
        # A kv head belongs to consecutive query heads, so to consecutive devices.
        head = jax.lax.axis_index("tensor") // sharing
        wk, wv = (jax.lax.dynamic_slice_in_dim(w, head, 1, axis=1) for w in (wk, wv))
        q, k, v = (jnp.einsum("btd,dhe->bthe", x, w) for w in (wq, wk, wv))
        return jax.lax.psum(jnp.einsum("bthe,hed->btd", attend(q, k, v), wo), "tensor")

    in_specs = (P(None, "tensor"), P(), P(), P("tensor"), P())
    return jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=P())(wq, wk, wv, wo, x)
