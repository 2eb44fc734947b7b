"""Each device computes more hidden units than its own. One possible cause: the weights are padded, and the products of
the zeros are computed as well."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

KEEP = 0.75


def block_with_dropout(mesh, up, down, x, key):
    specs = P(None, "model"), P("model"), P("data"), P()

    @partial(jax.shard_map, mesh=mesh, in_specs=specs, out_specs=P("data"))
    def local(up, down, x, key):
        more = -up.shape[1] % 128
        up, down = jnp.pad(up, ((0, 0), (0, more))), jnp.pad(down, ((0, more), (0, 0)))
        result = jax.lax.psum(jax.nn.gelu(x @ up) @ down, "model")
        first = jax.lax.axis_index("data") * len(x)
        keys = jax.vmap(partial(jax.random.fold_in, jax.random.wrap_key_data(key)))(first + jnp.arange(len(x)))
        kept = jax.vmap(lambda each: jax.random.bernoulli(each, KEEP, x.shape[1:]))(keys)
        return x + jnp.where(kept, result / KEEP, 0.0)

    return local(up, down, x, key)
