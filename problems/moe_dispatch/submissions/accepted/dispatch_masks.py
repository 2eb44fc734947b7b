"""Masks instead of indices: one product with a mask fills the buffers, and another one reads them, as in GShard."""

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
    experts = router.shape[1]

    @jax.shard_map(mesh=mesh, in_specs=(P("expert"), P(), P("expert"), P("expert")), out_specs=P("expert"))
    def local(x, router, up, down):
        expert, weight = route(x, router)
        chosen = jax.nn.one_hot(expert, experts, dtype=x.dtype)
        earlier = jnp.cumsum(chosen, axis=1) - 1
        # (groups, tokens, experts, slots): 1 where a token has a slot. one_hot is all zeros for a slot that does not exist.
        mask = chosen[..., None] * jax.nn.one_hot(earlier.astype(jnp.int32), capacity, dtype=x.dtype)
        buffer = jnp.einsum("gsec,gsd->gecd", mask, x)
        arrived = jax.lax.all_to_all(buffer, "expert", split_axis=1, concat_axis=0, tiled=True)
        done = apply_experts(up, down, arrived)
        returned = jax.lax.all_to_all(done, "expert", split_axis=0, concat_axis=1, tiled=True)
        return x + jnp.einsum("gsec,gs,gecd->gsd", mask, weight, returned)

    return local(x, router, up, down)
