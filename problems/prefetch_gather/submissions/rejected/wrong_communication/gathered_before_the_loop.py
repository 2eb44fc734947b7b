"""All weights are gathered before the loop, so every device holds all of them at once and nothing hides the gather."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def layer(h, w):
        return jnp.tanh(h @ w), None

    def local(shards, x):
        weights = jax.lax.all_gather(shards, "fsdp", axis=1, tiled=True)
        return jax.lax.scan(layer, x, weights)[0]

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
