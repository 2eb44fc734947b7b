"""Scatter into buffers of fixed capacity, exchange them, apply the experts, exchange back, and combine."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def route(x: jax.Array, router: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return each token's expert, and the weight of its result: the probability that the router gives this expert."""
    probabilities = jax.nn.softmax(x @ router, axis=-1)
    return jnp.argmax(probabilities, axis=-1), jnp.max(probabilities, axis=-1)


def apply_experts(up: jax.Array, down: jax.Array, tokens: jax.Array) -> jax.Array:
    """Apply expert e to tokens[:, e], for every expert of `up` and `down`."""
    hidden = jax.nn.gelu(jnp.einsum("gecd,edh->gech", tokens, up))
    return jnp.einsum("gech,ehd->gecd", hidden, down)


def moe(mesh: Mesh, x: jax.Array, router: jax.Array, up: jax.Array, down: jax.Array, capacity: int) -> jax.Array:
    """x plus, for each token that its expert has room for, the expert's result times the router's weight."""
    experts = router.shape[1]

    def local(x: jax.Array, router: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
        expert, weight = route(x, router)
        # How many earlier tokens of the group chose the same expert.
        chosen = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
        earlier = jnp.take_along_axis(jnp.cumsum(chosen, axis=1), expert[..., None], axis=2)[..., 0] - 1
        place = jnp.arange(len(x))[:, None], expert, earlier
        # A slot from `capacity` on does not exist: such a token is not written, and reads zeros.
        buffer = jnp.zeros((len(x), experts, capacity, x.shape[2]), x.dtype).at[place].set(x, mode="drop")
        arrived = jax.lax.all_to_all(buffer, "expert", split_axis=1, concat_axis=0, tiled=True)
        done = apply_experts(up, down, arrived)
        returned = jax.lax.all_to_all(done, "expert", split_axis=0, concat_axis=1, tiled=True)
        return x + weight[..., None] * returned.at[place].get(mode="fill", fill_value=0)

    specs = P("expert"), P(), P("expert"), P("expert")
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P("expert"))(x, router, up, down)
