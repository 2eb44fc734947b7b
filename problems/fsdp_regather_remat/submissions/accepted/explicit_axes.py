"""Explicit axes: reshard is inside the checkpointed body, and so runs again in the backward pass."""

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
    explicit = jax.sharding.Mesh(mesh.devices, mesh.axis_names, axis_types=(jax.sharding.AxisType.Explicit,))
    return jax.device_put({"params": params}, NamedSharding(explicit, P(None, "fsdp")))


def layer(x, weights):
    return x + nnx.tanh(x @ weights["up"]["kernel"]) @ weights["down"]["kernel"]


def step(mesh, state, x, y):
    @jax.checkpoint
    def gathered_layer(x, shards):
        return layer(x, jax.tree.map(lambda shard: jax.sharding.reshard(shard, P()), shards)), None

    def mean_loss(params, x, y):
        out, _ = jax.lax.scan(gathered_layer, x, params)
        return jnp.mean((out - y) ** 2)

    loss, grads = jax.value_and_grad(mean_loss)(state["params"], x, y)
    return {"params": jax.tree.map(lambda p, g: p - 0.2 * g, state["params"], grads)}, loss
