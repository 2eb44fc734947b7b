"""The masks differ over "data", but depend on how many devices there are. One possible cause: the number of the
device is folded into the key. Fold in the number of the row in the whole batch."""

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
        own = jax.random.fold_in(jax.random.wrap_key_data(key), jax.lax.axis_index("data"))
        kept = jax.random.bernoulli(own, KEEP, x.shape)
        return x + jnp.where(kept, result / KEEP, 0.0)

    return local(up, down, x, key)
