"""The last layer was not applied: the last weight that was gathered is never used."""

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
        (h, _), _ = jax.lax.scan(layer, (x, whole(shards[0])), shards[1:])
        return h

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
