"""ZeRO-2: every device has whole parameters, and one slice of the gradients and of the moments."""

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
    """Build the state: parameters and count whole on every device, both moments split along dimension 0."""

    def build() -> State:
        params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}

    return jax.jit(build, out_shardings={name: NamedSharding(mesh, spec) for name, spec in SPECS.items()})()


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    adam = optax.scale_by_adam(eps=EPSILON)
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
        # Each device receives the sum for its own slice, and updates nothing else.
        moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
        directions, moments = adam.update(jax.tree.map(scatter, grads), moments)
        slices = jax.tree.map(lambda p, d: own_slice(p) - LEARNING_RATE * d, state["params"], directions)
        params = jax.tree.map(lambda own: jax.lax.all_gather(own, "fsdp", axis=0, tiled=True), slices)
        new = {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}
        return new, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
