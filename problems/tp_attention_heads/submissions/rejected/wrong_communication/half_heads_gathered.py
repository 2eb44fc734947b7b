"""Each device computes less than one kv head, and the heads were gathered. A kv head is small: let each device that
uses it compute all of it."""

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
    kv_heads, size = wk.shape[1:]

    def local(wq, wk, wv, wo, x):
        head = jax.lax.axis_index("tensor") // (mesh.shape["tensor"] // kv_heads)
        k, v = (jax.lax.all_gather(x @ w, "tensor", axis=2, tiled=True) for w in (wk, wv))
        k, v = (jax.lax.dynamic_slice_in_dim(each, head * size, size, axis=2)[:, :, None] for each in (k, v))
        q = jnp.einsum("btd,dhe->bthe", x, wq)
        return jax.lax.psum(jnp.einsum("bthe,hed->btd", attend(q, k, v), wo), "tensor")

    wk, wv = (w.reshape(w.shape[0], -1) for w in (wk, wv))
    in_specs = (P(None, "tensor"), P(None, "tensor"), P(None, "tensor"), P("tensor"), P())
    return jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=P())(wq, wk, wv, wo, x)
