"""FSDP x TP: matrices split by columns or rows over tensor, and each part over fsdp, like the rows of the batch."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from lessons.adam_on_mlp import State, adam, descend, place

COLUMNS, ROWS = P("fsdp", "tensor"), P(("tensor", "fsdp"))
PARAMS = {
    "dense1": {"kernel": COLUMNS, "bias": ROWS},
    "dense2": {"kernel": ROWS, "bias": P("fsdp")},
    "dense3": {"kernel": COLUMNS, "bias": ROWS},
}
SPECS = {"params": PARAMS, "mu": PARAMS, "nu": PARAMS, "count": P()}


def init(mesh: Mesh, seed: int) -> State:
    """Build the state: each matrix split over both axes, and the moments like their parameter."""
    return place(mesh, seed, SPECS)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    elements = y.size

    def loss_fn(shards: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        # This leaves the device's own columns or rows. Differentiation turns each all_gather into a reduce_scatter.
        params = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", axis=0, tiled=True), shards)
        one, two, three = params["dense1"], params["dense2"], params["dense3"]
        h = nnx.relu(x @ one["kernel"] + one["bias"])
        h = nnx.relu(jax.lax.psum(h @ two["kernel"], "tensor") + two["bias"])
        error = h @ three["kernel"] + three["bias"] - y
        return jax.lax.psum(jnp.sum(error**2), ("fsdp", "tensor")) / elements

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp", "tensor")), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        directions, new = adam(state, grads)
        return {**new, "params": descend(state["params"], directions)}, loss

    return local_step(state, x, y)
