"""Each weight is gathered twice, once ahead and once where it is used, to have a gather that nothing waits for."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def layer(carry, shards):
        h, w = carry
        shard, next_shard = shards
        h = jnp.tanh(h @ (0.5 * w + 0.5 * whole(shard)))
        return (h, whole(next_shard)), None

    def local(shards, x):
        pairs = shards, jnp.roll(shards, -1, axis=0)
        (h, _), _ = jax.lax.scan(layer, (x, whole(shards[0])), pairs)
        return h

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
