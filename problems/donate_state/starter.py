from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

WHOLE, SPLIT = P(), P("data")
SPECS = {
    "params": WHOLE,
    "momentum": WHOLE,
    "previous": SPLIT,
    "average": SPLIT,
    "losses": WHOLE,
    "count": WHOLE,
}


def init(mesh: Mesh, seed: int) -> State:
    """Build the state and place each leaf. This function is complete."""
    rngs = nnx.Rngs(seed)
    layers = {"hidden": nnx.Linear(40, 128, rngs=rngs), "out": nnx.Linear(128, 24, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    state = {
        "params": params,
        "momentum": jax.tree.map(jnp.zeros_like, params),
        "previous": params,
        "average": jax.tree.map(lambda p: p.astype(jnp.bfloat16), params),
        "losses": jnp.zeros(8),
        "count": jnp.zeros((), jnp.int32),
    }
    return {name: jax.device_put(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()}


def loss_fn(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over all rows. This function is complete."""
    hidden = jnp.tanh(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return jnp.mean((hidden @ params["out"]["kernel"] + params["out"]["bias"] - y) ** 2)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one step of SGD with momentum.

    Args:
      mesh: one axis, "data", of 8 or 4 devices.
      state: what `init` or the previous step returned.
      x: (B, 40) float32, y: (B, 24) float32, with rows split over "data".
    Returns:
      The new state, with the shape, the dtype and the sharding of each old leaf, and the loss before the update.
    """
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
    params = jax.tree.map(lambda p, m: p - 0.1 * m, state["params"], momentum)
    # The formulas are right. Which of these leaves return with another shape, dtype or sharding?
    return {
        "params": params,
        "momentum": momentum,
        "previous": state["params"],
        "average": jax.tree.map(lambda a, p: 0.9 * a.astype(jnp.float32) + 0.1 * p, state["average"], params),
        "losses": jnp.append(state["losses"], loss),
        "count": state["count"] + 1,
    }, loss
