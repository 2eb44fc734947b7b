"""Masks under jit, with constraints on the buffers only."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def route(x, router):
    probabilities = jax.nn.softmax(x @ router, axis=-1)
    return jnp.argmax(probabilities, axis=-1), jnp.max(probabilities, axis=-1)


def apply_experts(up, down, tokens):
    hidden = jax.nn.gelu(jnp.einsum("gecd,edh->gech", tokens, up))
    return jnp.einsum("gech,ehd->gecd", hidden, down)


def moe(mesh, x, router, up, down, capacity):
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    expert, weight = route(x, router)
    chosen = jax.nn.one_hot(expert, router.shape[1], dtype=x.dtype)
    earlier = (jnp.cumsum(chosen, axis=1) - 1).astype(jnp.int32)
    mask = chosen[..., None] * jax.nn.one_hot(earlier, capacity, dtype=x.dtype)
    buffer = pin(jnp.einsum("gsec,gsd->gecd", mask, x), "expert")
    done = pin(apply_experts(up, down, pin(buffer, None, "expert")), None, "expert")
    result = jnp.einsum("gsec,gecd->gsd", mask, pin(done, "expert"))
    return pin(x + weight[..., None] * result, "expert")
