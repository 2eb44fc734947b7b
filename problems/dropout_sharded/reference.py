"""In shard_map: each device draws the masks of its own rows, by their numbers in the whole batch."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

KEEP = 0.75
SPECS = P(None, "model"), P("model"), P("data"), P()


def block_with_dropout(mesh: Mesh, up: jax.Array, down: jax.Array, x: jax.Array, key: jax.Array) -> jax.Array:
    """Return x + dropout(gelu(x @ up) @ down)."""

    @partial(jax.shard_map, mesh=mesh, in_specs=SPECS, out_specs=P("data"))
    def local(up: jax.Array, down: jax.Array, x: jax.Array, key: jax.Array) -> jax.Array:
        result = jax.lax.psum(jax.nn.gelu(x @ up) @ down, "model")
        first = jax.lax.axis_index("data") * len(x)
        keys = jax.vmap(partial(jax.random.fold_in, jax.random.wrap_key_data(key)))(first + jnp.arange(len(x)))
        kept = jax.vmap(lambda each: jax.random.bernoulli(each, KEEP, x.shape[1:]))(keys)
        return x + jnp.where(kept, result / KEEP, 0.0)

    return local(up, down, x, key)
