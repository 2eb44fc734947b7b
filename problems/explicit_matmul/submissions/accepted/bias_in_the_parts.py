"""Each device adds its piece of the bias to its part of the sum, so the bias needs no communication of its own."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    def local(columns, rows, piece, x):
        part = jax.nn.relu(x @ columns) @ rows
        start = jax.lax.axis_index("model") * piece.size
        padded = jax.lax.dynamic_update_slice(jnp.zeros(part.shape[1:]), piece, (start,))
        return jax.lax.psum(part + padded, "model")

    specs = (P(None, "model"), P("model"), P("model"), P("data"))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P("data"), check_vma=False)(w1, w2, bias, x)
