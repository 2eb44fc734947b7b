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
    """Build six blocks as one stack, and split each leaf along dimension 1. This function is complete."""
    stack = nnx.split_rngs(splits=LAYERS)(nnx.vmap(Block))(nnx.Rngs(seed))
    params = nnx.to_pure_dict(nnx.state(stack, nnx.Param))
    return jax.device_put({"params": params}, NamedSharding(mesh, P(None, "fsdp")))


def layer(x: jax.Array, weights: Any) -> jax.Array:
    """Apply one block with whole weights. This function is complete."""
    return x + nnx.tanh(x @ weights["up"]["kernel"]) @ weights["down"]["kernel"]


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step on the mean squared error, with the weights of one layer gathered at a time.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      state: what `init` or the previous step returned.
      x: (B, 64) float32, rows split over "fsdp".
      y: (B, 64) float32, split in the same way.
    Returns:
      The new state, placed as the old one, and the loss before the update.
    """
    split, rows = P(None, "fsdp"), P("fsdp")

    def loss_of_shards(shards: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        # The values are right, but the weights of all layers are whole at once, and so are all gradients.
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", axis=1, tiled=True), shards)

        def apply(x: jax.Array, weights: Any) -> tuple[jax.Array, None]:
            return layer(x, weights), None

        out, _ = jax.lax.scan(apply, x, whole)
        return jax.lax.pmean(jnp.mean((out - y) ** 2), "fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(split, rows, rows), out_specs=(split, P()))
    def local_step(shards: Any, x: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
        loss, grads = jax.value_and_grad(loss_of_shards)(shards, x, y)
        return jax.tree.map(lambda p, g: p - 0.2 * g, shards, grads), loss

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
