"""Outside the blocks on the diagonal, the result is zero: each device kept its own block, and nothing arrived from others."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(None, "data"), check_vma=False)
    def exchange(rows):
        me = jax.lax.axis_index("data")
        block = rows.reshape(len(rows), mesh.shape["data"], -1)[:, me]
        empty = jnp.zeros((len(x), block.shape[1]), x.dtype)
        return jax.lax.dynamic_update_slice_in_dim(empty, block, me * len(rows), axis=0)

    return exchange(x)
