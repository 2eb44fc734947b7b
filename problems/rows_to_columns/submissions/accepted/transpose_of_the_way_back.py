"""Columns to rows is the transpose of rows to columns, so JAX derives one exchange from the other."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(None, "data"), out_specs=P("data"))
    def columns_to_rows(columns):
        return jax.lax.all_to_all(columns, "data", split_axis=0, concat_axis=1, tiled=True)

    (result,) = jax.linear_transpose(columns_to_rows, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return result
