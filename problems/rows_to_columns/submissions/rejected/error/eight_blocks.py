"""The number 8 is written into the program, which also has to run on 4 devices."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(None, "data"))
    def exchange(rows):
        blocks = rows.reshape(len(rows), 8, -1)
        return jax.lax.all_to_all(blocks, "data", split_axis=1, concat_axis=0).reshape(len(x), -1)

    return exchange(x)
