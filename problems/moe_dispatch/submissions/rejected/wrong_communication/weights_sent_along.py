"""The router's weights travel to the experts with the tokens, and are applied there. The device that sent a token has its weight, and can apply it when the result returns."""

import jax
import jax.numpy as jnp
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
    experts = router.shape[1]

    @jax.shard_map(mesh=mesh, in_specs=(P("expert"), P(), P("expert"), P("expert")), out_specs=P("expert"))
    def local(x, router, up, down):
        expert, weight = route(x, router)
        place = jnp.arange(len(x))[:, None], expert, earlier_tokens(expert, experts)
        buffer = jnp.zeros((len(x), experts, capacity, x.shape[2]), x.dtype).at[place].set(x, mode="drop")
        arrived = jax.lax.all_to_all(buffer, "expert", split_axis=1, concat_axis=0, tiled=True)
        weights = jnp.zeros(buffer.shape[:3], x.dtype).at[place].set(weight, mode="drop")
        weights = jax.lax.all_to_all(weights, "expert", split_axis=1, concat_axis=0, tiled=True)
        done = apply_experts(up, down, arrived) * weights[..., None]
        returned = jax.lax.all_to_all(done, "expert", split_axis=0, concat_axis=1, tiled=True)
        return x + returned.at[place].get(mode="fill", fill_value=0)

    return local(x, router, up, down)
