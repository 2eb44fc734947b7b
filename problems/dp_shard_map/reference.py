"""Differentiate the loss of the whole batch: the devices' mean is part of the function, so AD gets the scale right."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LEARNING_RATE = 0.05


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh: Mesh, seed: int) -> State:
    """Build the parameters and put a complete copy on every device."""
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    return jax.device_put({"params": params}, NamedSharding(mesh, P()))


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step on the global batch and return the new state and the loss before it."""
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))

    @partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=(P(), P()))
    def local_step(params: Any, x: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
        def batch_loss(params: Any) -> jax.Array:
            local_loss = jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)
            return jax.lax.pmean(local_loss, "data")

        # The parameters are equal on all devices, so the transpose of their use on varying rows is a sum over devices.
        # It is the sum over `data` of gradients of local_loss / N: the mean, and the only all_reduce that is needed.
        loss, grads = jax.value_and_grad(batch_loss)(params)
        return jax.tree.map(lambda p, g: p - LEARNING_RATE * g, params, grads), loss

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
