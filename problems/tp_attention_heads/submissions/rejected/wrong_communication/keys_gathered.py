"""Keys and values were gathered. Each device can compute the one head that it uses, since it has x and the weights."""

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
        head = jax.lax.axis_index("tensor") // (mesh.shape["tensor"] // wk.shape[1])
        rows = x.shape[1] // mesh.shape["tensor"]
        own = jax.lax.dynamic_slice_in_dim(x, jax.lax.axis_index("tensor") * rows, rows, axis=1)
        k, v = (jnp.einsum("btd,dhe->bthe", own, w) for w in (wk, wv))
        k, v = (jax.lax.all_gather(each, "tensor", axis=1, tiled=True) for each in (k, v))
        k, v = (jax.lax.dynamic_slice_in_dim(each, head, 1, axis=2) for each in (k, v))
        q = jnp.einsum("btd,dhe->bthe", x, wq)
        return jax.lax.psum(jnp.einsum("bthe,hed->btd", attend(q, k, v), wo), "tensor")

    in_specs = (P(None, "tensor"), P(), P(), P("tensor"), P())
    return jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=P())(wq, wk, wv, wo, x)
