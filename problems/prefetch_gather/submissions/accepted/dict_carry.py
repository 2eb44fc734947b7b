"""Each layer is a function of its own, and the carry is a dict."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def whole(shard):
    return jax.lax.all_gather(shard, "fsdp", tiled=True)


def apply(h, w):
    return jnp.tanh(jnp.dot(h, w))


def forward(mesh, weights, x):
    def local(shards, x):
        def round_of(carry, i):
            coming = whole(jnp.take(shards, i + 1, axis=0))
            return {"h": apply(carry["h"], carry["w"]), "w": coming}, None

        carry, _ = jax.lax.scan(round_of, {"h": x, "w": whole(shards[0])}, jnp.arange(shards.shape[0] - 1))
        return apply(carry["h"], carry["w"])

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
