"""Two layers are fetched ahead, so four whole layers are in memory at once: two in use and two on their way."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def local(shards, x):
        count = shards.shape[0]

        def two(i):
            return whole(shards[jnp.minimum(2 * i, count - 1)]), whole(shards[jnp.minimum(2 * i + 1, count - 1)])

        def pair(i, carry):
            h, first, second = carry
            h = jnp.tanh(jnp.tanh(h @ first) @ second)
            return h, *two(i + 1)

        pairs = count // 2
        h, first, second = jax.lax.fori_loop(0, pairs - 1, pair, (x, *two(0)))
        h = jnp.tanh(jnp.tanh(h @ first) @ second)
        return jnp.tanh(h @ whole(shards[-1])) if count % 2 else h

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
