"""A scan whose carry is the whole state, and whose inputs are the batches and the learning rates."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]


def init(mesh: Mesh, seed: int) -> State:
    """Build the state, whole on every device."""
    rngs = nnx.Rngs(seed)
    layers = {"dense1": nnx.Linear(16, 32, rngs=rngs), "dense2": nnx.Linear(32, 8, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    momentum = jax.tree.map(jnp.zeros_like, params)
    state = {"params": params, "momentum": momentum, "count": jnp.zeros((), jnp.int32)}
    return jax.device_put(state, NamedSharding(mesh, P()))


def loss_fn(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over all rows."""
    hidden = jnp.tanh(x @ params["dense1"]["kernel"] + params["dense1"]["bias"])
    return jnp.mean((hidden @ params["dense2"]["kernel"] + params["dense2"]["bias"] - y) ** 2)


def train(mesh: Mesh, state: State, xs: jax.Array, ys: jax.Array, lrs: jax.Array) -> tuple[State, jax.Array]:
    """Take one step for each batch and learning rate. Return the new state and the losses."""
    optimizer = optax.trace(decay=0.9)

    def step(state: State, batch: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[State, jax.Array]:
        x, y, lr = batch
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        directions, moments = optimizer.update(grads, optax.TraceState(state["momentum"]))
        params = jax.tree.map(lambda p, d: p - lr * d, state["params"], directions)
        return {"params": params, "momentum": moments.trace, "count": state["count"] + 1}, loss

    return jax.lax.scan(step, state, (xs, ys, lrs))
