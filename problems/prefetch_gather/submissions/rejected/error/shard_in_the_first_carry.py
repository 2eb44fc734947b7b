"""The first carry has a shard and the next ones have whole weights, but scan requires one shape for all rounds."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def layer(carry, next_shard):
        h, w = carry
        return (jnp.tanh(h @ w), whole(next_shard)), None

    def local(shards, x):
        (h, w), _ = jax.lax.scan(layer, (x, shards[0]), shards[1:])
        return jnp.tanh(h @ w)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
