"""One ppermute: n - 1 pairs of neighbours and, for a ring, the pair that leads from the last device to the first."""

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def shift_right(mesh: Mesh, x: jax.Array, ring: bool) -> jax.Array:
    """Pass each block of `x` (R, C), split along R over the mesh axis data, to the next device."""
    devices = mesh.shape["data"]
    pairs = [(device, device + 1) for device in range(devices - 1)]
    if ring:
        pairs.append((devices - 1, 0))

    def send(block: jax.Array) -> jax.Array:
        # (R / devices, C) -> (R / devices, C). A device that receives from no other gets zeros.
        return jax.lax.ppermute(block, "data", pairs)

    return jax.shard_map(send, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
