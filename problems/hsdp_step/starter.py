from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh

State = dict[str, Any]

LEARNING_RATE, EPSILON = 1e-2, 1e-4


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh: Mesh, seed: int) -> State:
    """Build the state and place it: split over `fsdp` along dimension 0, the same in every group of `data`.

    Args:
      mesh: two axes, `data` and `fsdp`, of sizes 2 and 4, or 2 and 2.
      seed: seed of the weights.
    Returns:
      `params`, Adam's moments `mu` and `nu` (zeros, shaped like the parameters) and its step `count` (int32, 0).
    """
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    state = {
        "params": params,
        "mu": jax.tree.map(jnp.zeros_like, params),
        "nu": jax.tree.map(jnp.zeros_like, params),
        "count": jnp.zeros((), jnp.int32),
    }
    # Everything is still on the first device. Place it.
    return state


def adam_update(state: State, grads: Any) -> State:
    """Update params, mu, nu and count by one Adam step. This function is finished.

    Every line is elementwise, so it works on whole leaves and on shards, and needs no communication. It changes no
    placement: you still have to place the new leaves.
    """
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step on the global batch.

    Args:
      mesh: the mesh that init was given.
      state: as init returns it, or as the last step did.
      x: inputs, (384, 40), rows split over both axes.
      y: targets, (384, 24), rows split over both axes.
    Returns:
      The new state, placed as the old one, and the loss of the global batch before the update.
    """
    raise NotImplementedError("Gather over fsdp, sum inside the group, then sum your shard across the groups.")
