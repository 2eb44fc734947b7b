"""The query heads of a device share their keys, so they are more rows of one matrix product."""

import math

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def tp_attention(mesh, wq, wk, wv, wo, x):
    def local(wq, wk, wv, wo, x):
        head = jax.lax.axis_index("tensor") // (mesh.shape["tensor"] // wk.shape[1])
        batch, length, _ = x.shape
        q = jnp.einsum("btd,dhe->bthe", x, wq)
        k, v = x @ wk[:, head], x @ wv[:, head]
        rows = q.reshape(batch, -1, q.shape[3])
        scores = (rows @ k.swapaxes(1, 2)).reshape(batch, length, -1, length) / math.sqrt(q.shape[3])
        future = jnp.arange(length)[:, None] < jnp.arange(length)
        weights = jax.nn.softmax(jnp.where(future[:, None], -1e30, scores))
        mixed = (weights.reshape(batch, -1, length) @ v).reshape(batch, length, -1)
        return jax.lax.psum(mixed @ wo.reshape(-1, wo.shape[2]), "tensor")

    in_specs = (P(None, "tensor"), P(), P(), P("tensor"), P())
    return jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=P())(wq, wk, wv, wo, x)
