"""The backward pass by hand, as a scan in reverse: no custom_vjp, and no checkpoint."""

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


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one step of SGD with momentum on the mean squared error."""

    def narrow(shards: Any) -> Any:
        shards = jax.tree.map(lambda shard: shard.astype(jnp.bfloat16), shards)
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), shards)
        return jax.tree.map(lambda kernel: kernel.astype(jnp.float32), whole)

    def forward(x: jax.Array, shards: Any) -> tuple[jax.Array, jax.Array]:
        return layer(x, narrow(shards)), x

    def backward(bar: jax.Array, kept: Any) -> tuple[jax.Array, Any]:
        shards, x = kept
        bar, grads = jax.vjp(layer, x, narrow(shards))[1](bar)
        scatter = partial(jax.lax.psum_scatter, axis_name="fsdp", tiled=True)
        return bar, jax.tree.map(lambda g: scatter(g) / jax.lax.axis_size("fsdp"), grads)

    def value_and_grad(shards: Any, x: jax.Array, y: jax.Array) -> tuple[jax.Array, Any]:
        out, inputs = jax.lax.scan(forward, x, shards)
        _, grads = jax.lax.scan(backward, 2 * (out - y) / y.size, (shards, inputs), reverse=True)
        return jnp.mean((out - y) ** 2), grads

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPLIT, ROWS, ROWS), out_specs=(SPLIT, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        loss, grads = value_and_grad(state["params"], x, y)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
        params = jax.tree.map(lambda p, m: p - 0.05 * m, state["params"], momentum)
        return {"params": params, "momentum": momentum}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
