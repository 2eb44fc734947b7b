"""All query heads use the first kv head. Each device has to select its own."""

import math

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attend(q, k, v):
    positions = jnp.arange(q.shape[1])
    grouped = q.reshape(*q.shape[:2], k.shape[2], -1, q.shape[3])
    scores = jnp.einsum("btkge,bske->bkgts", grouped, k) / math.sqrt(q.shape[3])
    scores = jnp.where(positions[:, None] >= positions, scores, -jnp.inf)
    return jnp.einsum("bkgts,bske->btkge", jax.nn.softmax(scores), v).reshape(q.shape)


def tp_attention(mesh, wq, wk, wv, wo, x):
    def local(wq, wk, wv, wo, x):
        wk, wv = wk[:, :1], wv[:, :1]
        q, k, v = (jnp.einsum("btd,dhe->bthe", x, w) for w in (wq, wk, wv))
        return jax.lax.psum(jnp.einsum("bthe,hed->btd", attend(q, k, v), wo), "tensor")

    in_specs = (P(None, "tensor"), P(), P(), P("tensor"), P())
    return jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=P())(wq, wk, wv, wo, x)
