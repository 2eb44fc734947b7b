"""Each part of the sum over "model" has another mask. Devices along "model" have the same rows, so they need the
same mask."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

KEEP = 0.75
SPECS = P(None, "model"), P("model"), P("data"), P()


def block_with_dropout(mesh, up, down, x, key):
    @partial(jax.shard_map, mesh=mesh, in_specs=SPECS, out_specs=P("data"))
    def local(up, down, x, key):
        part = jax.nn.gelu(x @ up) @ down
        first = (jax.lax.axis_index("data") + 100 * jax.lax.axis_index("model")) * len(x)
        keys = jax.vmap(partial(jax.random.fold_in, jax.random.wrap_key_data(key)))(first + jnp.arange(len(x)))
        kept = jax.vmap(lambda each: jax.random.bernoulli(each, KEEP, x.shape[1:]))(keys)
        return x + jax.lax.psum(jnp.where(kept, part / KEEP, 0.0), "model")

    return local(up, down, x, key)
