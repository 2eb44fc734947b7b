"""The whole kernels of all layers are kept for the backward pass. One possible cause: they are gathered before the checkpointed function, so they are its arguments."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LAYERS, WIDTH, RANK, HIDDEN = 6, 40, 16, 176
# Dimension 0 counts the layers; dimension 1 is split over the devices.
SHAPES = {"left": (LAYERS, WIDTH, RANK), "right": (LAYERS, RANK, HIDDEN), "down": (LAYERS, HIDDEN, WIDTH)}
SPLIT, ROWS = P(None, "fsdp"), P("fsdp")


def init(mesh: Mesh, seed: int) -> State:
    """Draw the kernels and a momentum of zeros, and place them on the mesh."""
    keys = jax.random.split(jax.random.key(seed), len(SHAPES))
    kernels = {
        name: jax.random.normal(key, shape) / shape[1] ** 0.5
        for key, (name, shape) in zip(keys, SHAPES.items(), strict=True)
    }
    momentum = jax.tree.map(jnp.zeros_like, kernels)
    return {
        "params": jax.device_put(kernels, NamedSharding(mesh, SPLIT)),
        "momentum": jax.device_put(momentum, NamedSharding(mesh, SPLIT)),
    }


def layer(x: jax.Array, whole: Any) -> jax.Array:
    """Apply one layer with whole kernels: x + 0.3 tanh(x left right) down."""
    return x + 0.3 * jnp.tanh(x @ whole["left"] @ whole["right"]) @ whole["down"]


@jax.custom_vjp
def gather(shard: jax.Array) -> jax.Array:
    """Rebuild one kernel from the devices' shards, rounded to bfloat16. Its gradient is float32, and is not rounded."""
    whole = jax.lax.all_gather(shard.astype(jnp.bfloat16), "fsdp", tiled=True)
    return whole.astype(jnp.float32)


def gather_forward(shard: jax.Array) -> tuple[jax.Array, None]:
    return gather(shard), None


def gather_backward(_: None, grad: jax.Array) -> tuple[jax.Array]:
    """Average the devices' gradients of a whole kernel, and return the part that belongs to the device's shard."""
    return (jax.lax.psum_scatter(grad, "fsdp", tiled=True) / jax.lax.axis_size("fsdp"),)


gather.defvjp(gather_forward, gather_backward)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one step of SGD with momentum on the mean squared error."""

    def apply(x: jax.Array, shards: Any) -> tuple[jax.Array, None]:
        return jax.checkpoint(layer)(x, jax.tree.map(gather, shards)), None

    def local_loss(shards: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        out, _ = jax.lax.scan(apply, x, shards)
        return jnp.mean((out - y) ** 2)

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPLIT, ROWS, ROWS), out_specs=(SPLIT, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        loss, grads = jax.value_and_grad(local_loss)(state["params"], x, y)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
        params = jax.tree.map(lambda p, m: p - 0.05 * m, state["params"], momentum)
        return {"params": params, "momentum": momentum}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
