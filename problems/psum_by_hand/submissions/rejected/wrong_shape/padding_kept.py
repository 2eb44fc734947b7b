"""You returned the padding with the sum. Cut the gathered vector to the length of the vectors that came in."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def add_up(local):
        total = jnp.pad(local.sum(axis=0), (0, -parts.shape[1] % mesh.shape["data"]))
        chunk = jax.lax.psum_scatter(total, "data", tiled=True)
        return jax.lax.all_gather(chunk, "data", tiled=True)

    return add_up(parts)
