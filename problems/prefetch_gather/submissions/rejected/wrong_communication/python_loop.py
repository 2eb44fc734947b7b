"""The layers are unrolled by a Python loop, so there is no loop whose rounds could fetch ahead."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def local(shards, x):
        w = whole(shards[0])
        for next_shard in shards[1:]:
            x, w = jnp.tanh(x @ w), whole(next_shard)
        return jnp.tanh(x @ w)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
