"""An untiled gather, reshaped, and the gather written before the product."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    pieces = jax.lax.all_gather(shard, "fsdp")
    return pieces.reshape(-1, shard.shape[-1])


def forward(mesh, weights, x):
    def layer(carry, next_shard):
        h, w = carry
        coming = whole(next_shard)
        return (jnp.tanh(h @ w), coming), None

    def local(shards, x):
        (h, w), _ = jax.lax.scan(layer, (x, whole(shards[0])), shards[1:])
        return jnp.tanh(h @ w)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
