"""fori_loop over all layers; the last round gathers the last layer again."""

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
            return jnp.tanh(h @ w), whole(shards[jnp.minimum(i + 1, last)])

        h, _ = jax.lax.fori_loop(0, last + 1, layer, (x, whole(shards[0])))
        return h

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
