"""nnx.scan over a module whose variables are stacks of shards. The body gathers the variables of its block."""

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

    def __call__(self, x):
        return x + self.down(nnx.tanh(self.up(x)))


def make(seed):
    return nnx.split_rngs(splits=LAYERS)(nnx.vmap(Block))(nnx.Rngs(seed))


def init(mesh, seed):
    return jax.device_put({"params": nnx.state(make(seed), nnx.Param)}, NamedSharding(mesh, P(None, "fsdp")))


def step(mesh, state, x, y):
    split, rows = P(None, "fsdp"), P("fsdp")

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def gathered_layer(x, block):
        graph, shards = nnx.split(block)
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), shards)
        return nnx.merge(graph, whole)(x)

    def mean_loss(model, x, y):
        return jax.lax.pmean(jnp.mean((gathered_layer(x, model) - y) ** 2), "fsdp")

    graph = nnx.graphdef(nnx.eval_shape(lambda: make(0)))

    @partial(jax.shard_map, mesh=mesh, in_specs=(split, rows, rows), out_specs=(split, P()))
    def local_step(shards, x, y):
        model = nnx.merge(graph, shards)
        loss, grads = nnx.value_and_grad(mean_loss)(model, x, y)
        return jax.tree.map(lambda p, g: p - 0.2 * g, shards, grads), loss

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
