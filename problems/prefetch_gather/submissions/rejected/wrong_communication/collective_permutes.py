"""The next layer is assembled from collective_permutes instead of an all_gather."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def forward(mesh, weights, x):
    def whole_by_ring(shard):
        size = jax.lax.axis_size("fsdp")
        device = jax.lax.axis_index("fsdp")
        pieces = [shard]
        for _ in range(size - 1):
            pieces.append(jax.lax.ppermute(pieces[-1], "fsdp", [(i, (i + 1) % size) for i in range(size)]))
        pieces = jnp.stack(pieces)[(device - jnp.arange(size)) % size]
        return pieces.reshape(-1, shard.shape[-1])

    def layer(carry, next_shard):
        h, w = carry
        return (jnp.tanh(h @ w), whole_by_ring(next_shard)), None

    def local(shards, x):
        (h, w), _ = jax.lax.scan(layer, (x, whole_by_ring(shards[0])), shards[1:])
        return jnp.tanh(h @ w)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
