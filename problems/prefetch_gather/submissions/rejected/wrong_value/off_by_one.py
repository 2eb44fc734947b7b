"""The first layer was not applied: each round multiplies with the weight after the one that is due, and the last round
with the first."""

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
        ahead = jnp.roll(shards, -1, axis=0)
        (h, _), _ = jax.lax.scan(layer, (x, whole(ahead[0])), jnp.roll(ahead, -1, axis=0))
        return h

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
