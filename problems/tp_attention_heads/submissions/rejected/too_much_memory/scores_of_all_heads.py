"""Each device has room for the scores of all query heads. It needs those of its own heads only."""

import math

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attend(q, k, v):
    positions, n = jnp.arange(q.shape[1]), jax.lax.axis_size("tensor")
    scores = jnp.einsum("bthe,bse->bhts", q, k[:, :, 0]) / math.sqrt(q.shape[3])
    first = jax.lax.axis_index("tensor") * scores.shape[1]
    everyone = jnp.zeros((scores.shape[0], n * scores.shape[1], *scores.shape[2:]), scores.dtype)
    everyone = jax.lax.dynamic_update_slice_in_dim(everyone, scores, first, axis=1)
    everyone = jnp.where(positions[:, None] >= positions, everyone, -jnp.inf)
    weights = jax.nn.softmax(everyone)
    own = jax.lax.dynamic_slice_in_dim(weights, first, scores.shape[1], axis=1)
    return jnp.einsum("bhts,bse->bthe", own, v[:, :, 0])


def tp_attention(mesh, wq, wk, wv, wo, x):
    def local(wq, wk, wv, wo, x):
        head = jax.lax.axis_index("tensor") // (mesh.shape["tensor"] // wk.shape[1])
        wk, wv = (jax.lax.dynamic_slice_in_dim(w, head, 1, axis=1) for w in (wk, wv))
        q, k, v = (jnp.einsum("btd,dhe->bthe", x, w) for w in (wq, wk, wv))
        return jax.lax.psum(jnp.einsum("bthe,hed->btd", attend(q, k, v), wo), "tensor")

    in_specs = (P(None, "tensor"), P(), P(), P("tensor"), P())
    return jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=P())(wq, wk, wv, wo, x)
