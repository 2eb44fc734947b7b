"""The key is an array of two numbers, and jax.random.fold_in of one number at a time takes a single key. Make one
with `jax.random.wrap_key_data(key)`."""

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
        first = jax.lax.axis_index("data") * len(x)
        keys = jax.vmap(jax.random.fold_in)(key, first + jnp.arange(len(x)))
        kept = jax.vmap(lambda each: jax.random.bernoulli(each, KEEP, x.shape[1:]))(keys)
        return x + jnp.where(kept, result / KEEP, 0.0)

    return local(up, down, x, key)
