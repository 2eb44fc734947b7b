"""Without tiled=True, the dimension that is split must be as long as the number of devices."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(None, "data"))
    def exchange(rows):
        return jax.lax.all_to_all(rows, "data", split_axis=1, concat_axis=0)

    return exchange(x)
