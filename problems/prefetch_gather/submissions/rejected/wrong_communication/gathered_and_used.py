"""A loop gathers each weight in the round that multiplies with it, so one waits for the other."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def layer(h, shard):
        return jnp.tanh(h @ whole(shard)), None

    def local(shards, x):
        return jax.lax.scan(layer, x, shards)[0]

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
