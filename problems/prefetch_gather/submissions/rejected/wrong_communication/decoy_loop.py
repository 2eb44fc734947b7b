"""All weights are gathered before the loop, and the loop gathers one more that no layer uses."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def layer(carry, layer_weights):
        h, unused = carry
        w, shard = layer_weights
        return (jnp.tanh(h @ w), whole(shard)), None

    def local(shards, x):
        weights = jax.lax.all_gather(shards, "fsdp", axis=1, tiled=True)
        (h, unused), _ = jax.lax.scan(layer, (x, weights[0]), (weights, shards))
        return h + 0 * unused[0]

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
