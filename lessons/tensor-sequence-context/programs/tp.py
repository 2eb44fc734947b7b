"""Tensor parallelism: layer 1 split by columns, layer 2 by rows, layer 3 by columns; every device has all rows of x."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from lessons.adam_on_mlp import State, adam, descend, place

COLUMNS, ROWS = P(None, "tensor"), P("tensor")
PARAMS = {
    "dense1": {"kernel": COLUMNS, "bias": P("tensor")},
    "dense2": {"kernel": ROWS, "bias": P()},
    "dense3": {"kernel": COLUMNS, "bias": P("tensor")},
}
SPECS = {"params": PARAMS, "mu": PARAMS, "nu": PARAMS, "count": P()}


def init(mesh: Mesh, seed: int) -> State:
    """Build the state: each matrix split by columns or by rows, and the moments like their parameter."""
    return place(mesh, seed, SPECS)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    elements = y.size

    def loss_fn(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        one, two, three = params["dense1"], params["dense2"], params["dense3"]
        h = nnx.relu(x @ one["kernel"] + one["bias"])
        # Each device has some terms of every sum. The bias is added once, after the terms are summed.
        h = nnx.relu(jax.lax.psum(h @ two["kernel"], "tensor") + two["bias"])
        error = h @ three["kernel"] + three["bias"] - y
        return jax.lax.psum(jnp.sum(error**2), "tensor") / elements

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P(), COLUMNS), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        # Each device has one term of the gradient of layer 2's result. An all_reduce sums them in the backward pass.
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        directions, new = adam(state, grads)
        return {**new, "params": descend(state["params"], directions)}, loss

    return local_step(state, x, y)
