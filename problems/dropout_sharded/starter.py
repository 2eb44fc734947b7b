from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

KEEP = 0.75
SPECS = P(None, "model"), P("model"), P("data"), P()


def block_with_dropout(mesh: Mesh, up: jax.Array, down: jax.Array, x: jax.Array, key: jax.Array) -> jax.Array:
    """Return x + dropout(gelu(x @ up) @ down), with a mask that is the same on every mesh.

    Args:
      mesh: two axes, "data" and "model".
      up: (D, H) float32, split by columns over "model". down: (H, D) float32, split by rows over "model".
      x: (B, D) float32, split by rows over "data".
      key: (2,) uint32, the data of a key, whole on every device.
    Returns:
      (B, D) float32, split by rows over "data".
    """

    @partial(jax.shard_map, mesh=mesh, in_specs=SPECS, out_specs=P("data"))
    def local(up: jax.Array, down: jax.Array, x: jax.Array, key: jax.Array) -> jax.Array:
        result = jax.lax.psum(jax.nn.gelu(x @ up) @ down, "model")
        # One mask for the rows of a device. Every device along "data" draws the same one.
        kept = jax.random.bernoulli(jax.random.wrap_key_data(key), KEEP, result.shape)
        return x + jnp.where(kept, result / KEEP, 0.0)

    return local(up, down, x, key)
