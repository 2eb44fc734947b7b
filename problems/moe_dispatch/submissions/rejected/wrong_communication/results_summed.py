"""Each device puts its experts' results into an array for all experts and all groups, and these arrays are summed over the devices. Most of what travels are zeros: send each result to the device of its token."""

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
        done = apply_experts(up, down, arrived)
        every = jnp.zeros((done.shape[0], experts, *done.shape[2:]), x.dtype)
        first = jax.lax.axis_index("expert") * len(up)
        every = jax.lax.dynamic_update_slice_in_dim(every, done, first, axis=1)
        returned = jax.lax.psum_scatter(every, "expert", scatter_dimension=0, tiled=True)
        return x + weight[..., None] * returned.at[place].get(mode="fill", fill_value=0)

    return local(x, router, up, down)
