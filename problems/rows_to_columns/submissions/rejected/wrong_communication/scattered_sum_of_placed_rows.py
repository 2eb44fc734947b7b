"""reduce_scatter adds up arrays that are zero except for one device's rows. Adding zeros changes nothing, but the zeros
travel, too."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(None, "data"), check_vma=False)
    def exchange(rows):
        start = jax.lax.axis_index("data") * len(rows)
        alone = jax.lax.dynamic_update_slice_in_dim(jnp.zeros_like(x, shape=x.shape), rows, start, axis=0)
        return jax.lax.psum_scatter(alone, "data", scatter_dimension=1, tiled=True)

    return exchange(x)
