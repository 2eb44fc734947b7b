"""Rows are out of order: the first rows of all devices come first, then all second ones. A device's rows are consecutive in
the array."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(None, "data"))
    def exchange(rows):
        blocks = rows.reshape(len(rows), mesh.shape["data"], -1)
        return jax.lax.all_to_all(blocks, "data", split_axis=1, concat_axis=1).reshape(len(x), -1)

    return exchange(x)
