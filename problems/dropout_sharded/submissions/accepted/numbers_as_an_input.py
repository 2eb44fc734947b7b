"""The numbers of the rows are an input, split like the rows."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

KEEP = 0.75
SPECS = P(None, "model"), P("model"), P("data"), P()


def block_with_dropout(mesh, up, down, x, key):
    @partial(jax.shard_map, mesh=mesh, in_specs=(*SPECS, P("data")), out_specs=P("data"))
    def local(up, down, x, key, numbers):
        def mask(number):
            return jax.random.bernoulli(jax.random.fold_in(jax.random.wrap_key_data(key), number), KEEP, x.shape[1:])

        result = jax.lax.psum(jax.nn.gelu(x @ up) @ down, "model")
        return x + jnp.where(jax.vmap(mask)(numbers), result / KEEP, 0.0)

    return local(up, down, x, key, jnp.arange(len(x)))
