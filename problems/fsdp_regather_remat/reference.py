"""jax.checkpoint with a policy that saves everything except gathered weights: the backward pass gathers them again."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LAYERS, WIDTH, HIDDEN = 6, 64, 192


class Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.up = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, use_bias=False, rngs=rngs)


def init(mesh: Mesh, seed: int) -> State:
    """Build six blocks as one stack, and split each leaf along dimension 1."""
    stack = nnx.split_rngs(splits=LAYERS)(nnx.vmap(Block))(nnx.Rngs(seed))
    params = nnx.to_pure_dict(nnx.state(stack, nnx.Param))
    return jax.device_put({"params": params}, NamedSharding(mesh, P(None, "fsdp")))


def layer(x: jax.Array, weights: Any) -> jax.Array:
    """Apply one block with whole weights."""
    return x + nnx.tanh(x @ weights["up"]["kernel"]) @ weights["down"]["kernel"]


def not_gathered(primitive: Any, *_: Any, **__: Any) -> bool:
    """Save the result of every operation but an all_gather."""
    return primitive.name != "all_gather"


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step on the mean squared error. Return the new state and the loss before it."""
    split, rows = P(None, "fsdp"), P("fsdp")

    @partial(jax.checkpoint, policy=not_gathered)
    def gathered_layer(x: jax.Array, shards: Any) -> tuple[jax.Array, None]:
        # scan passes the shards of one layer: dimension 0 of the stack is gone, so the split dimension is now 0.
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), shards)
        return layer(x, whole), None

    def loss_of_shards(shards: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        out, _ = jax.lax.scan(gathered_layer, x, shards)
        return jax.lax.pmean(jnp.mean((out - y) ** 2), "fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(split, rows, rows), out_specs=(split, P()))
    def local_step(shards: Any, x: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
        loss, grads = jax.value_and_grad(loss_of_shards)(shards, x, y)
        return jax.tree.map(lambda p, g: p - 0.2 * g, shards, grads), loss

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
