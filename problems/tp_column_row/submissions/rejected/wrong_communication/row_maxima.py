"""The largest hidden unit of each row is exchanged in addition to the product, to check that all are finite. Each
device can check its own hidden units."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):

    def local(columns, rows, x):
        hidden = jax.nn.gelu(x @ columns)
        largest = jax.lax.pmax(hidden.max(axis=1), "tensor")
        return jnp.where(jnp.isfinite(largest).all(), jax.lax.psum(hidden @ rows, "tensor"), jnp.nan)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P())(w1, w2, x)
