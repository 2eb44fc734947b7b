"""In a loop of n - 1 steps, each device passes on the block that arrived last, and puts what arrives in its place."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def ring_all_gather(mesh: Mesh, x: jax.Array) -> jax.Array:
    """Gather `x` (R, C), split along R over the mesh axis data, whole on every device."""
    devices = mesh.shape["data"]
    to_the_right = [(device, (device + 1) % devices) for device in range(devices)]

    def gather(block: jax.Array) -> jax.Array:
        me = jax.lax.axis_index("data")

        def step(number: int, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            arrived, blocks = state
            arrived = jax.lax.ppermute(arrived, "data", to_the_right)
            # What arrives in step s has made s hops, so it is the block of the device s places to the left.
            return arrived, blocks.at[(me - number) % devices].set(arrived)

        # (R / devices, C) -> (devices, R / devices, C) -> (R, C)
        blocks = jnp.zeros((devices, *block.shape), block.dtype).at[me].set(block)
        _, blocks = jax.lax.fori_loop(1, devices, step, (block, blocks))
        return blocks.reshape(x.shape)

    # JAX cannot tell that all devices end up with equal arrays, and P() claims that they do: hence check_vma=False.
    return jax.shard_map(gather, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)(x)
