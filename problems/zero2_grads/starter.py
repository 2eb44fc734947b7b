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
SPECS = {"params": P(), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh: Mesh, seed: int) -> State:
    """Build the state and place each leaf. This function is finished."""
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    state = {
        "params": params,
        "mu": jax.tree.map(jnp.zeros_like, params),
        "nu": jax.tree.map(jnp.zeros_like, params),
        "count": jnp.zeros((), jnp.int32),
    }
    return {name: jax.device_put(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()}


def loss_fn(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over these rows, with whole parameters. This function is finished."""
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)


def own_slice(tree: Any) -> Any:
    """Cut the slice of this device out of whole leaves, inside shard_map. This function is finished."""
    parts, index = jax.lax.axis_size("fsdp"), jax.lax.axis_index("fsdp")
    return jax.tree.map(lambda a: jax.lax.dynamic_slice_in_dim(a, index * (len(a) // parts), len(a) // parts), tree)


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
    """Take one Adam step, in which no device has a whole gradient of the whole batch.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      state: what `init` or the previous step returned.
      x: (B, 40) float32, y: (B, 24) float32, with rows split over "fsdp".
    Returns:
      The new state, placed as the old one, and the loss before the update.
    """
    rows = P("fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, rows, rows), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        # Without this cast, JAX sums the gradients over all devices, because all of them have the same parameters.
        own = jax.lax.pcast(state["params"], "fsdp", to="varying")
        loss, grads = jax.value_and_grad(loss_fn)(own, x, y)
        # To do: loss and grads are those of this device's rows alone. The parameters and grads are whole, but the
        # moments are slices, so they do not fit in one update yet.
        return adam_update(state, grads), jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
