"""Tensor parallelism: layer 1 split by columns, layer 2 by rows, layer 3 by columns; every device has all rows of x."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LEARNING_RATE, EPSILON = 1e-2, 1e-4
COLUMNS, ROWS = P(None, "tensor"), P("tensor")
PARAMS = {
    "dense1": {"kernel": COLUMNS, "bias": P("tensor")},
    "dense2": {"kernel": ROWS, "bias": P()},
    "dense3": {"kernel": COLUMNS, "bias": P("tensor")},
}
SPECS = {"params": PARAMS, "mu": PARAMS, "nu": PARAMS, "count": P()}


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh: Mesh, seed: int) -> State:
    """Build the state: each matrix split by columns or by rows, and the moments like their parameter."""

    def build() -> State:
        params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}

    return jax.jit(build, out_shardings=jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS))()


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    adam = optax.scale_by_adam(eps=EPSILON)
    elements = y.size

    def loss_fn(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        one, two, three = params["dense1"], params["dense2"], params["dense3"]
        h = nnx.relu(x @ one["kernel"] + one["bias"])
        # Each device has some of the terms of every sum. The bias is added once, after they are added up.
        h = nnx.relu(jax.lax.psum(h @ two["kernel"], "tensor") + two["bias"])
        error = h @ three["kernel"] + three["bias"] - y
        return jax.lax.psum(jnp.sum(error**2), "tensor") / elements

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P(), COLUMNS), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        params = state["params"]
        # The gradient of layer 2's result is the sum of what each device has of it: an all_reduce in the backward pass.
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
        directions, moments = adam.update(grads, moments)
        params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, params, directions)
        return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}, loss

    return local_step(state, x, y)
