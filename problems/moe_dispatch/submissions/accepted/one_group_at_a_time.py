"""vmap over the groups of a device, and a comparison of all pairs of tokens instead of a running count."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def route(x, router):
    probabilities = jax.nn.softmax(x @ router, axis=-1)
    return jnp.argmax(probabilities, axis=-1), jnp.max(probabilities, axis=-1)


def apply_experts(up, down, tokens):
    hidden = jax.nn.gelu(jnp.einsum("gecd,edh->gech", tokens, up))
    return jnp.einsum("gech,ehd->gecd", hidden, down)


def moe(mesh, x, router, up, down, capacity):
    def fill(x, expert):
        same = expert[:, None] == expert[None, :]
        slot = jnp.sum(jnp.tril(same, -1), axis=1)
        kept = slot < capacity
        buffer = jnp.zeros((router.shape[1], capacity, x.shape[1]), x.dtype)
        buffer = buffer.at[expert, jnp.minimum(slot, capacity - 1)].add(jnp.where(kept[:, None], x, 0))
        return buffer, jnp.where(kept, slot, 0), kept

    def combine(x, expert, weight, slot, kept, returned):
        return x + jnp.where(kept, weight, 0)[:, None] * returned[expert, slot]

    @jax.shard_map(mesh=mesh, in_specs=(P("expert"), P(), P("expert"), P("expert")), out_specs=P("expert"))
    def local(x, router, up, down):
        expert, weight = route(x, router)
        buffer, slot, kept = jax.vmap(fill)(x, expert)
        arrived = jax.lax.all_to_all(buffer, "expert", 1, 0, tiled=True)
        returned = jax.lax.all_to_all(apply_experts(up, down, arrived), "expert", 0, 1, tiled=True)
        return jax.vmap(combine)(x, expert, weight, slot, kept, returned)

    return local(x, router, up, down)
