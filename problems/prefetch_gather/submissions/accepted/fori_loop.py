"""fori_loop with the stack outside of the carry, and dynamic_index_in_dim for the next layer."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def forward(mesh, weights, x):
    def local(shards, x):
        last = shards.shape[0] - 1

        def layer(i, carry):
            h, w = carry
            coming = jax.lax.dynamic_index_in_dim(shards, i + 1, keepdims=False)
            return jnp.tanh(h @ w), whole(coming)

        h, w = jax.lax.fori_loop(0, last, layer, (x, whole(shards[0])))
        return jnp.tanh(h @ w)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
