"""Explicit axes: the buffers are resharded from groups to experts and back, and only filling them is in shard_map."""

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
    def fill(x, router):
        expert, weight = route(x, router)
        place = jnp.arange(len(x))[:, None], expert, earlier_tokens(expert, router.shape[1])
        buffer = jnp.zeros((len(x), router.shape[1], capacity, x.shape[2]), x.dtype)
        return buffer.at[place].set(x, mode="drop"), weight, place[1:]

    def combine(x, weight, place, returned):
        return x + weight[..., None] * returned.at[jnp.arange(len(x))[:, None], *place].get(mode="fill", fill_value=0)

    def layer(x, router, up, down):
        buffer, weight, place = jax.shard_map(fill, in_specs=(P("expert"), P()), out_specs=P("expert"))(x, router)
        done = apply_experts(up, down, jax.sharding.reshard(buffer, P(None, "expert")))
        returned = jax.sharding.reshard(done, P("expert"))
        return jax.shard_map(combine, in_specs=P("expert"), out_specs=P("expert"))(x, weight, place, returned)

    specs = P("expert"), P(), P("expert"), P("expert")
    return jax.sharding.explicit_axes(layer, axes=mesh.axis_names, in_sharding=specs)(x, router, up, down)
