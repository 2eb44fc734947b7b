from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

Params = dict[str, Any]
State = dict[str, Any]

LEARNING_RATE, MOMENTUM = 0.1, 0.9
# Input, hidden and output units of each block.
BLOCKS = {"block1": (24, 96, 72), "block2": (72, 168, 120)}


def build(seed: int) -> Params:
    """Return the parameters of both blocks, on one device. This function is finished."""
    rng = np.random.default_rng(seed)

    def layer(inputs: int, outputs: int) -> Params:
        kernel = rng.standard_normal((inputs, outputs), np.float32) / np.float32(inputs**0.5)
        return {"kernel": kernel, "bias": np.float32(0.1) * rng.standard_normal(outputs, np.float32)}

    return {name: {"up": layer(d, h), "down": layer(h, out)} for name, (d, h, out) in BLOCKS.items()}


def init(mesh: Mesh, seed: int) -> State:
    """Build the state and place it on the mesh.

    Args:
      mesh: axes `fsdp` and `tensor`, of sizes 4 and 2, 2 and 2, or 2 and 3.
      seed: seed of the parameters.
    Returns:
      `params`, and `momentum` of the same shapes, zeros.
    """
    params = build(seed)
    # Everything is still on the first device. Place each kind of leaf as the table says.
    return {"params": params, "momentum": jax.tree.map(np.zeros_like, params)}


def loss_on_one_device(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
    """The loss as one device computes it. This function is finished; it shows the order of operations."""
    h = x
    for name in BLOCKS:
        up, down = params[name]["up"], params[name]["down"]
        hidden = jax.nn.gelu(h @ up["kernel"] + up["bias"])
        h = hidden @ down["kernel"] + down["bias"]
    return jnp.mean((h - y) ** 2)


def update(state: State, grads: Params) -> State:
    """Take one step of gradient descent with momentum. This function is finished.

    Both lines are elementwise, so they work on whole leaves and on shards. They change no placement.
    """
    momentum = jax.tree.map(lambda m, g: MOMENTUM * m + g, state["momentum"], grads)
    params = jax.tree.map(lambda p, m: p - LEARNING_RATE * m, state["params"], momentum)
    return {"params": params, "momentum": momentum}


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one step on the global batch.

    Args:
      mesh: the mesh that init was given.
      state: as init returns it, or as the last step did.
      x: inputs, (264, 24), rows split over `fsdp`, the same on all devices along `tensor`.
      y: targets, (264, 120), rows split in the same way.
    Returns:
      The new state, placed as the old one, and the loss of the global batch before the update.
    """
    raise NotImplementedError("Gather over fsdp, sum activations over tensor, reduce gradients over fsdp.")
