"""Shards padded with zeros are summed over the devices. The sum is the whole weight, and costs about twice what an all_gather sends."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def forward(mesh, weights, x):
    def whole(shard):
        size, device = jax.lax.axis_size("fsdp"), jax.lax.axis_index("fsdp")
        padded = jnp.zeros((size, *shard.shape), shard.dtype).at[device].set(shard)
        return jax.lax.psum(padded, "fsdp").reshape(-1, shard.shape[-1])

    def layer(carry, next_shard):
        h, w = carry
        return (jnp.tanh(h @ w), whole(next_shard)), None

    def local(shards, x):
        (h, w), _ = jax.lax.scan(layer, (x, whole(shards[0])), shards[1:])
        return jnp.tanh(h @ w)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
