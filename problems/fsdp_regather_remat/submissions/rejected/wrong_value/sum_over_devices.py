"""The gradients are the sum over the devices, but the loss is their mean. The derivative of an all_gather adds:
differentiate the mean over the devices, or divide by their number."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS, WIDTH, HIDDEN = 6, 64, 192


class Block(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, use_bias=False, rngs=rngs)


def init(mesh, seed):
    stack = nnx.split_rngs(splits=LAYERS)(nnx.vmap(Block))(nnx.Rngs(seed))
    params = nnx.to_pure_dict(nnx.state(stack, nnx.Param))
    return jax.device_put({"params": params}, NamedSharding(mesh, P(None, "fsdp")))


def layer(x, weights):
    return x + nnx.tanh(x @ weights["up"]["kernel"]) @ weights["down"]["kernel"]


def step(mesh, state, x, y):
    split, rows = P(None, "fsdp"), P("fsdp")

    @jax.checkpoint
    def gathered_layer(x, shards):
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), shards)
        return layer(x, whole), None

    def loss_of_shards(shards, x, y):
        out, _ = jax.lax.scan(gathered_layer, x, shards)
        return jnp.mean((out - y) ** 2)

    @partial(jax.shard_map, mesh=mesh, in_specs=(split, rows, rows), out_specs=(split, P()))
    def local_step(shards, x, y):
        loss, grads = jax.value_and_grad(loss_of_shards)(shards, x, y)
        return jax.tree.map(lambda p, g: p - 0.2 * g, shards, grads), jax.lax.pmean(loss, "fsdp")

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
