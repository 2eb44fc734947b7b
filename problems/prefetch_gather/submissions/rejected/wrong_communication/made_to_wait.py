"""The gather of the next weight waits for the product of this round, behind an optimization_barrier. Nothing is left to hide it."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def forward(mesh, weights, x):
    def whole(shard):
        return jax.lax.all_gather(shard, "fsdp", tiled=True)

    def layer(carry, next_shard):
        h, w = carry
        h, next_shard = jax.lax.optimization_barrier((jnp.tanh(h @ w), next_shard))
        return (h, whole(next_shard)), None

    def local(shards, x):
        (h, w), _ = jax.lax.scan(layer, (x, whole(shards[0])), shards[1:])
        return jnp.tanh(h @ w)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
