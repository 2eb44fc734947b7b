"""Devices along "data" have different rows, but drop the same elements. One possible cause: every device draws its
mask from the same key."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

KEEP = 0.75
SPECS = P(None, "model"), P("model"), P("data"), P()


def block_with_dropout(mesh, up, down, x, key):
    @partial(jax.shard_map, mesh=mesh, in_specs=SPECS, out_specs=P("data"))
    def local(up, down, x, key):
        result = jax.lax.psum(jax.nn.gelu(x @ up) @ down, "model")
        kept = jax.random.bernoulli(jax.random.wrap_key_data(key), KEEP, x.shape)
        return x + jnp.where(kept, result / KEEP, 0.0)

    return local(up, down, x, key)
