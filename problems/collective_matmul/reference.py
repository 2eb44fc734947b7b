"""A scan over the rounds: multiply the block that is here, write its rows into the result, and pass the block on."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

Carry = tuple[jax.Array, jax.Array]


def gathered_matmul(mesh: Mesh, x: jax.Array, w: jax.Array) -> jax.Array:
    """x @ w, with the rows of x and the columns of w split over the mesh axis tensor, and the columns of the result."""
    devices = mesh.shape["tensor"]
    ring = [(device, (device + 1) % devices) for device in range(devices)]

    def local(block: jax.Array, columns: jax.Array) -> jax.Array:
        here, own = jax.lax.axis_index("tensor"), block.shape[0]

        def place(result: jax.Array, block: jax.Array, number: int | jax.Array) -> jax.Array:
            """Write the rows of the block that is here in this round. It comes from the device `number` places back."""
            start = (here - number) % devices * own
            return jax.lax.dynamic_update_slice_in_dim(result, block @ columns, start, axis=0)

        def one_round(carry: Carry, number: jax.Array) -> tuple[Carry, None]:
            result, block = carry
            return (place(result, block, number), jax.lax.ppermute(block, "tensor", ring)), None

        nothing = jax.lax.pcast(jnp.zeros((own * devices, columns.shape[1])), "tensor", to="varying")
        (result, block), _ = jax.lax.scan(one_round, (nothing, block), jnp.arange(devices - 1))
        return place(result, block, devices - 1)

    return jax.shard_map(local, mesh=mesh, in_specs=(P("tensor"), P(None, "tensor")), out_specs=P(None, "tensor"))(x, w)
