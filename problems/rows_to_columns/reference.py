"""Cut the columns into one block for each device, exchange the blocks, and stack those that arrive."""

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh: Mesh, x: jax.Array) -> jax.Array:
    """Reshard `x` (R, C) from rows over the mesh axis data to columns over it."""

    def exchange(rows: jax.Array) -> jax.Array:
        # (R / devices, C) -> (R, C / devices)
        return jax.lax.all_to_all(rows, "data", split_axis=1, concat_axis=0, tiled=True)

    return jax.shard_map(exchange, mesh=mesh, in_specs=P("data"), out_specs=P(None, "data"))(x)
