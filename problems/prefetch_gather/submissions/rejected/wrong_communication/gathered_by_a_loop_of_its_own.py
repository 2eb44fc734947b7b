"""One loop gathers all weights and a second one multiplies with them, so no product runs beside a gather, and every device holds all layers at once."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def local(shards, x):
        def layer(h, w):
            return jnp.tanh(h @ w), None

        _, weights = jax.lax.scan(lambda _, shard: (None, whole(shard)), None, shards)
        return jax.lax.scan(layer, x, weights)[0]

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
