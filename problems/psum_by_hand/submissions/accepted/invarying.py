"""The length is a round number of chunks, and all_gather declares its result the same everywhere, so JAX verifies P()."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    devices, length = mesh.shape["data"], parts.shape[1]
    rounded = (length + devices - 1) // devices * devices

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data", None), out_specs=P(None))
    def add_up(local):
        total = jnp.zeros(rounded, local.dtype).at[:length].set(jnp.einsum("md->d", local))
        mine = jax.lax.psum_scatter(total, "data", tiled=True)
        return jax.lax.all_gather(mine, "data", tiled=True, to="invarying")

    return add_up(parts)[:length]
