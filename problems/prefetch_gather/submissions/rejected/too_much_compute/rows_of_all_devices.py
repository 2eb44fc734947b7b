"""Every device computes all rows and keeps its own, so the same products are computed on all devices."""

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
        size = jax.lax.axis_size("fsdp")
        copies = jnp.tile(x, (size, 1))
        (h, w), _ = jax.lax.scan(layer, (copies, whole(shards[0])), shards[1:])
        return jnp.tanh(h @ w)[: x.shape[0]]

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
