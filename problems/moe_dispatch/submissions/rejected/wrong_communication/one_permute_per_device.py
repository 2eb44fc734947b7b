"""The buffers travel in one collective_permute for each distance between devices. all_to_all does all of them in one instruction."""

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


def exchange(blocks, devices):
    """Block k goes to device k; the blocks that arrive are in the order of their senders."""
    me = jax.lax.axis_index("expert")
    arrived = jnp.zeros_like(blocks)
    for distance in range(devices):
        pairs = [(device, (device + distance) % devices) for device in range(devices)]
        block = jax.lax.ppermute(blocks[(me + distance) % devices], "expert", pairs)
        arrived = arrived.at[(me - distance) % devices].set(block)
    return arrived


def moe(mesh, x, router, up, down, capacity):
    experts = router.shape[1]

    @jax.shard_map(mesh=mesh, in_specs=(P("expert"), P(), P("expert"), P("expert")), out_specs=P("expert"))
    def local(x, router, up, down):
        expert, weight = route(x, router)
        place = jnp.arange(len(x))[:, None], expert, earlier_tokens(expert, experts)
        buffer = jnp.zeros((len(x), experts, capacity, x.shape[2]), x.dtype).at[place].set(x, mode="drop")
        devices = mesh.shape["expert"]
        blocks = jnp.moveaxis(buffer.reshape(len(x), devices, experts // devices, capacity, -1), 1, 0)
        arrived = exchange(blocks, devices)
        arrived = arrived.reshape(-1, *arrived.shape[2:])
        done = apply_experts(up, down, arrived)
        returned = jnp.moveaxis(exchange(done.reshape(blocks.shape), devices), 0, 1).reshape(buffer.shape)
        return x + weight[..., None] * returned.at[place].get(mode="fill", fill_value=0)

    return local(x, router, up, down)
