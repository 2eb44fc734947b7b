"""in_specs asks for columns, so the exchange happens before the function starts."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh, x):
    @partial(jax.shard_map, mesh=mesh, in_specs=P(None, "data"), out_specs=P(None, "data"))
    def exchange(rows):
        return rows

    return exchange(x)
