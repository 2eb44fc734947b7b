"""More than a few blocks are held at once. One possible cause: the blocks of all rounds are kept, although each of
them is needed in one round only."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gathered_matmul(mesh, x, w):
    devices = mesh.shape["tensor"]
    ring = [(device, (device + 1) % devices) for device in range(devices)]

    def local(block, columns):
        here, own = jax.lax.axis_index("tensor"), block.shape[0]

        def place(result, block, number):
            start = (here - number) % devices * own
            return jax.lax.dynamic_update_slice_in_dim(result, block @ columns, start, axis=0)

        def one_round(carry, number):
            result, block, blocks = carry
            result = place(result, block, number)
            blocks = blocks.at[number].set(block)
            return (result, jax.lax.ppermute(block, "tensor", ring), blocks), None

        nothing = jax.lax.pcast(jnp.zeros((own * devices, columns.shape[1])), "tensor", to="varying")
        kept = jax.lax.pcast(jnp.zeros((devices, *block.shape)), "tensor", to="varying")
        (result, block, blocks), _ = jax.lax.scan(one_round, (nothing, block, kept), jnp.arange(devices - 1))
        result = place(result, block, devices - 1)
        return jnp.where(jnp.isfinite(blocks).all(), result, jnp.nan)

    return jax.shard_map(local, mesh=mesh, in_specs=(P("tensor"), P(None, "tensor")), out_specs=P(None, "tensor"))(x, w)
