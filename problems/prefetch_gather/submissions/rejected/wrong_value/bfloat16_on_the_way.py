"""The products were computed in bfloat16, whose numbers have 8 bits of precision."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def layer(carry, next_shard):
        h, w = carry
        return (jnp.tanh(h @ w.astype(jnp.float32)), whole(next_shard)), None

    def local(shards, x):
        shards = shards.astype(jnp.bfloat16)
        (h, w), _ = jax.lax.scan(layer, (x, whole(shards[0])), shards[1:])
        return jnp.tanh(h @ w.astype(jnp.float32))

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
