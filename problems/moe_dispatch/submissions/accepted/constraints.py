"""Under jit: a constraint turns buffers that are split by groups into buffers that are split by experts, and back."""

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


def earlier_tokens(expert, experts):
    """How many earlier tokens of the group chose the same expert."""
    chosen = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
    return jnp.take_along_axis(jnp.cumsum(chosen, axis=1), expert[..., None], axis=2)[..., 0] - 1


def moe(mesh, x, router, up, down, capacity):
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    def fill(x, expert, earlier):
        return jnp.zeros((router.shape[1], capacity, x.shape[1]), x.dtype).at[expert, earlier].set(x, mode="drop")

    def read(returned, expert, earlier):
        return returned.at[expert, earlier].get(mode="fill", fill_value=0)

    expert, weight = route(x, router)
    earlier = earlier_tokens(expert, router.shape[1])
    buffer = pin(jax.vmap(fill)(x, expert, earlier), "expert")
    done = pin(apply_experts(up, down, pin(buffer, None, "expert")), None, "expert")
    returned = pin(jax.vmap(read)(pin(done, "expert"), expert, earlier), "expert")
    return pin(x + weight[..., None] * returned, "expert")
