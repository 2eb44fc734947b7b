"""You returned the loss of the new parameters. Return the loss before the update."""

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

    def gathered_layer(x, shards):
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), shards)
        return layer(x, whole), None

    def loss_of_shards(shards, x, y):
        out, _ = jax.lax.scan(gathered_layer, x, shards)
        return jax.lax.pmean(jnp.mean((out - y) ** 2), "fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(split, rows, rows), out_specs=(split, P()))
    def local_step(shards, x, y):
        grads = jax.grad(loss_of_shards)(shards, x, y)
        shards = jax.tree.map(lambda p, g: p - 0.2 * g, shards, grads)
        return shards, loss_of_shards(shards, x, y)

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
