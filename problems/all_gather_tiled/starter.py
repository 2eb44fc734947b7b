import jax
from jax.sharding import Mesh


def gather(mesh: Mesh, w: jax.Array, dim: int) -> jax.Array:
    """Rebuild a sharded parameter on every device.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      w: the parameter, a global array whose dimension `dim` is split over fsdp.
      dim: which dimension is split.
    Returns:
      The same array, whole on every device: sharding P().
    """
    # The values are right. Run it and look at where they live.
    return w
