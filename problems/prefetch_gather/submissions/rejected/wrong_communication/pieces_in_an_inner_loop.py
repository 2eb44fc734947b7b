"""The next weight is gathered in pieces by an inner loop without products, so the chip finishes that loop before it multiplies."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def forward(mesh, weights, x):
    def whole(shard):
        rows = shard.shape[0] // 4

        def piece(_, quarter):
            return None, jax.lax.all_gather(quarter, "fsdp")

        _, pieces = jax.lax.scan(piece, None, shard.reshape(4, rows, -1))
        return jnp.swapaxes(pieces, 0, 1).reshape(-1, shard.shape[-1])

    def layer(carry, next_shard):
        h, w = carry
        return (jnp.tanh(h @ w), whole(next_shard)), None

    def local(shards, x):
        (h, w), _ = jax.lax.scan(layer, (x, whole(shards[0])), shards[1:])
        return jnp.tanh(h @ w)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
