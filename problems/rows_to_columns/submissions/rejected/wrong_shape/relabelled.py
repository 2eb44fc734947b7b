"""The pieces stayed where they were and only changed their place in the array: out_specs says how pieces are put together,
it moves nothing."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(None, "data"))
    def exchange(rows):
        return rows

    return exchange(x)
