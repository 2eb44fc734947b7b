"""What is gathered depends on this layer's result, by 0 times a sum, so the gather waits for the product."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def layer(carry, next_shard):
        h, w = carry
        h = jnp.tanh(h @ w)
        return (h, whole(next_shard + 0 * jnp.sum(h))), None

    def local(shards, x):
        (h, w), _ = jax.lax.scan(layer, (x, whole(shards[0])), shards[1:])
        return jnp.tanh(h @ w)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
