"""In a loop of n - 1 steps, each device sends a partial sum to the right, and adds its own term to what arrives."""

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh: Mesh, terms: jax.Array) -> jax.Array:
    """Add up `terms` (M, R, C), split along M over the mesh axis data, into (R, C), split along R."""
    devices = mesh.shape["data"]
    to_the_right = [(device, (device + 1) % devices) for device in range(devices)]

    def add_up(local: jax.Array) -> jax.Array:
        me = jax.lax.axis_index("data")
        # (M / devices, R, C) -> (R, C) -> (devices, R / devices, C)
        own = local.sum(axis=0).reshape(devices, -1, local.shape[2])

        def step(number: int, partial_sum: jax.Array) -> jax.Array:
            # What arrives in step s began s devices to the left, with the block before that device's own.
            arrived = jax.lax.ppermute(partial_sum, "data", to_the_right)
            return arrived + own[(me - number - 1) % devices]

        # After n - 1 steps, the partial sum is that of block me - n, which is block me.
        return jax.lax.fori_loop(1, devices, step, own[(me - 1) % devices])

    return jax.shard_map(add_up, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(terms)
