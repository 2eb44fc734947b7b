import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def gathered_matmul(mesh: Mesh, x: jax.Array, w: jax.Array) -> jax.Array:
    """x @ w on a mesh of one axis, "tensor".

    Args:
      x: (T, D), rows split over the devices: P("tensor").
      w: (D, F), columns split over the devices: P(None, "tensor").
    Returns:
      (T, F), columns split over the devices: P(None, "tensor").
    """

    # The numbers are right. But no device multiplies anything before it has all rows.
    def local(block: jax.Array, columns: jax.Array) -> jax.Array:
        rows = jax.lax.all_gather(block, "tensor", tiled=True)
        return rows @ columns

    return jax.shard_map(local, mesh=mesh, in_specs=(P("tensor"), P(None, "tensor")), out_specs=P(None, "tensor"))(x, w)
