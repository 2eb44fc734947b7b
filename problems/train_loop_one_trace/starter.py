from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]


def init(mesh: Mesh, seed: int) -> State:
    """Build the state, whole on every device. This function is complete."""
    rngs = nnx.Rngs(seed)
    layers = {"dense1": nnx.Linear(16, 32, rngs=rngs), "dense2": nnx.Linear(32, 8, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    momentum = jax.tree.map(jnp.zeros_like, params)
    state = {"params": params, "momentum": momentum, "count": jnp.zeros((), jnp.int32)}
    return jax.device_put(state, NamedSharding(mesh, P()))


def loss_fn(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over all rows. This function is complete."""
    hidden = jnp.tanh(x @ params["dense1"]["kernel"] + params["dense1"]["bias"])
    return jnp.mean((hidden @ params["dense2"]["kernel"] + params["dense2"]["bias"] - y) ** 2)


def train(mesh: Mesh, state: State, xs: jax.Array, ys: jax.Array, lrs: jax.Array) -> tuple[State, jax.Array]:
    """Take one step for each batch and learning rate.

    Args:
      mesh: one axis, "data", of 8 or 4 devices.
      state: what `init` or the previous call returned.
      xs: (K, B, 16) float32, ys: (K, B, 8) float32, with rows split over "data". lrs: (K,) float32, whole.
    Returns:
      The new state and the K losses, each from before its update.
    """
    params, losses = state["params"], []
    for k in range(len(lrs)):  # Replace this loop: it has the four faults that the statement names.
        optimizer = optax.sgd(0.05, momentum=0.9)
        opt_state = optimizer.init(params)
        loss, grads = jax.jit(jax.value_and_grad(loss_fn))(params, xs[k], ys[k])
        updates, opt_state = optimizer.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        losses.append(loss)
    return state | {"params": params}, jnp.stack(losses)
