"""ZeRO-2: every device has whole parameters, and one shard of the gradients and of the moments."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from lessons.adam_on_mlp import MLP, State, adam, descend, place

SPECS = {"params": P(), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


def init(mesh: Mesh, seed: int) -> State:
    """Build the state: parameters and count whole on every device, both moments split along dimension 0."""
    return place(mesh, seed, SPECS)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    devices = mesh.shape["fsdp"]

    def loss_fn(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)

    def scatter(grad: jax.Array) -> jax.Array:
        return jax.lax.psum_scatter(grad, "fsdp", scatter_dimension=0, tiled=True) / devices

    def own_slice(whole: jax.Array) -> jax.Array:
        rows = whole.shape[0] // devices
        return jax.lax.dynamic_slice_in_dim(whole, jax.lax.axis_index("fsdp") * rows, rows)

    # check_vma=False: an all_gather returns the same array everywhere, but its type does not say so.
    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()), check_vma=False)
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        # Each device gets the summed gradient of its own shard, and updates only that.
        directions, new = adam(state, jax.tree.map(scatter, grads))
        slices = descend(jax.tree.map(own_slice, state["params"]), directions)
        params = jax.tree.map(lambda own: jax.lax.all_gather(own, "fsdp", axis=0, tiled=True), slices)
        return {**new, "params": params}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
