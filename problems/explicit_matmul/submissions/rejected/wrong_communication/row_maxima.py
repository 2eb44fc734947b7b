"""The largest hidden unit of each row is exchanged in addition to the product, to check that all are finite. Each
device can check its own hidden units."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    def local(columns, rows, piece, x):
        hidden = jax.nn.relu(x @ columns)
        largest = jax.lax.pmax(hidden.max(axis=1), "model")
        product = jnp.where(jnp.isfinite(largest).all(), jax.lax.psum(hidden @ rows, "model"), jnp.nan)
        return product + jax.lax.all_gather(piece, "model", tiled=True)

    specs = (P(None, "model"), P("model"), P("model"), P("data"))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P("data"), check_vma=False)(w1, w2, bias, x)
