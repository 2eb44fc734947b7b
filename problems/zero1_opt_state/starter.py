from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

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
    """Build the state. The values are right, but the moments are not split: every leaf is whole on every device."""
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    state = {
        "params": params,
        "mu": jax.tree.map(jnp.zeros_like, params),
        "nu": jax.tree.map(jnp.zeros_like, params),
        "count": jnp.zeros((), jnp.int32),
    }
    return jax.device_put(state, NamedSharding(mesh, P()))


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
    """Take one Adam step on the whole batch; where arrays live decides what the devices do.

    Args:
      mesh: one axis, "fsdp", of 8 or of 4 devices.
      state: params, mu, nu and count, as init places them.
      x: the global batch, (B, 40), split by rows over "fsdp".
      y: the targets, (B, 24), split in the same way.
    Returns:
      The new state, placed as the old one, and the loss before the update, a float32 scalar.
    """
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    loss = jnp.mean((nnx.merge(graph, state["params"])(x) - y) ** 2)
    # To do: the gradients, their update by adam_update, and where everything lives.
    return state, loss
