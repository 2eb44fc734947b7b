from typing import Any

import jax
import numpy as np
import optax
from jax.sharding import Mesh

Params = dict[str, Any]
State = dict[str, Any]

LEARNING_RATE, EPSILON = 1e-2, 1e-4
WIDTHS, RANK, SCALE = (40, 136, 88, 24), 16, 2.0
LAYERS = ("dense1", "dense2", "dense3")


def build(seed: int) -> tuple[Params, Params]:
    """Return the frozen base, and adapters that add nothing to it yet. This function is finished."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    base, adapters = {}, {}
    for name, inputs, outputs in zip(LAYERS, WIDTHS[:-1], WIDTHS[1:], strict=True):
        base[name] = {
            "kernel": normal(inputs, outputs) / np.float32(inputs**0.5),
            "bias": np.float32(0.1) * normal(outputs),
        }
        adapters[name] = {
            "a": normal(inputs, RANK) / np.float32(inputs**0.5),
            "b": np.zeros((RANK, outputs), np.float32),
        }
    return base, adapters


def init(mesh: Mesh, seed: int) -> State:
    """Build the state and place it.

    Args:
      mesh: one axis, `fsdp`, of 8 or of 4 devices.
      seed: seed of base and adapters.
    Returns:
      `base`, `adapters`, Adam's moments `mu` and `nu` of the adapters (zeros) and its step `count` (int32, 0).
    """
    base, adapters = build(seed)
    # The moments and the count are missing, and everything is still on the host.
    return {"base": base, "adapters": adapters}


def forward(base: Params, adapters: Params, x: jax.Array) -> jax.Array:
    """The network on one device. This function is finished. It needs whole arrays, and takes any number of rows."""
    for name in LAYERS:
        low = SCALE * (x @ adapters[name]["a"]) @ adapters[name]["b"]
        x = x @ base[name]["kernel"] + base[name]["bias"] + low
        x = x if name == LAYERS[-1] else jax.nn.relu(x)
    return x


def adam_update(state: State, grads: Params) -> State:
    """Update adapters, mu, nu and count by one Adam step, and leave the base. This function is finished.

    Every line is elementwise, so it works on whole leaves and on shards, and needs no communication.
    """
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    adapters = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["adapters"], directions)
    return state | {"adapters": adapters, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step of the adapters on the global batch.

    Args:
      mesh: the mesh that init was given.
      state: as init returns it, or as the last step did.
      x: inputs, (384, 40), rows split over `fsdp`.
      y: targets, (384, 24), rows split over `fsdp`.
    Returns:
      The new state, placed as the old one, and the loss of the global batch before the update.
    """
    raise NotImplementedError("Gather base and adapters, and reduce the gradients of the adapters.")
