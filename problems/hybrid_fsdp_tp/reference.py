"""Gather kernels over fsdp inside the loss, sum products over tensor; differentiation supplies the other exchanges."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Params = dict[str, Any]
State = dict[str, Any]

LEARNING_RATE, MOMENTUM = 0.1, 0.9
# Input, hidden and output units of each block.
BLOCKS = {"block1": (24, 96, 72), "block2": (72, 168, 120)}


def specs(params: Params) -> Params:
    """A kernel takes both axes, hidden units over tensor, and a bias is split as the outputs of its kernel are."""
    block = {
        "up": {"kernel": P("fsdp", "tensor"), "bias": P("tensor")},
        "down": {"kernel": P("tensor", "fsdp"), "bias": P("fsdp")},
    }
    return {name: block for name in params}


def build(seed: int) -> Params:
    rng = np.random.default_rng(seed)

    def layer(inputs: int, outputs: int) -> Params:
        kernel = rng.standard_normal((inputs, outputs), np.float32) / np.float32(inputs**0.5)
        return {"kernel": kernel, "bias": np.float32(0.1) * rng.standard_normal(outputs, np.float32)}

    return {name: {"up": layer(d, h), "down": layer(h, out)} for name, (d, h, out) in BLOCKS.items()}


def init(mesh: Mesh, seed: int) -> State:
    """Build the parameters, and place them and the momentum as `specs` says."""
    params = build(seed)
    state = {"params": params, "momentum": jax.tree.map(np.zeros_like, params)}
    places = jax.tree.map(lambda spec: NamedSharding(mesh, spec), {name: specs(params) for name in state})
    return jax.device_put(state, places)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one step of gradient descent with momentum, and return the new state and the loss before it."""

    def gather(shards: Params) -> Params:
        """Whole over fsdp, and still split over tensor."""
        up, down = shards["up"], shards["down"]
        return {
            "up": {"kernel": jax.lax.all_gather(up["kernel"], "fsdp", axis=0, tiled=True), "bias": up["bias"]},
            "down": {
                "kernel": jax.lax.all_gather(down["kernel"], "fsdp", axis=1, tiled=True),
                "bias": jax.lax.all_gather(down["bias"], "fsdp", axis=0, tiled=True),
            },
        }

    def loss_fn(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
        h = x
        for name in BLOCKS:
            block = gather(params[name])
            hidden = jax.nn.gelu(h @ block["up"]["kernel"] + block["up"]["bias"])
            h = jax.lax.psum(hidden @ block["down"]["kernel"], "tensor") + block["down"]["bias"]
        return jax.lax.pmean(jnp.mean((h - y) ** 2), "fsdp")

    placed = {name: specs(state["params"]) for name in ("params", "momentum")}

    @partial(jax.shard_map, mesh=mesh, in_specs=(placed, P("fsdp"), P("fsdp")), out_specs=(placed, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        momentum = jax.tree.map(lambda m, g: MOMENTUM * m + g, state["momentum"], grads)
        params = jax.tree.map(lambda p, m: p - LEARNING_RATE * m, state["params"], momentum)
        return {"params": params, "momentum": momentum}, loss

    return local_step(state, x, y)
