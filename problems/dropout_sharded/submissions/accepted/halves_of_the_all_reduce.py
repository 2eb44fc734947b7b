"""The sum is a reduce-scatter of the features, followed by an all-gather."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

KEEP = 0.75
SPECS = P(None, "model"), P("model"), P("data"), P()


def block_with_dropout(mesh, up, down, x, key):
    @partial(jax.shard_map, mesh=mesh, in_specs=SPECS, out_specs=P("data"), check_vma=False)
    def local(up, down, x, key):
        part = jax.nn.gelu(x @ up) @ down
        part = jax.lax.psum_scatter(part, "model", scatter_dimension=1, tiled=True)
        result = jax.lax.all_gather(part, "model", axis=1, tiled=True)
        first = jax.lax.axis_index("data") * len(x)
        keys = jax.vmap(partial(jax.random.fold_in, jax.random.wrap_key_data(key)))(first + jnp.arange(len(x)))
        kept = jax.vmap(lambda each: jax.random.bernoulli(each, KEEP, x.shape[1:]))(keys)
        return x + jnp.where(kept, result / KEEP, 0.0)

    return local(up, down, x, key)
