"""FSDP x TP: matrices split by columns or rows over tensor, and each part over fsdp, like the rows of the batch."""

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
COLUMNS, ROWS = P("fsdp", "tensor"), P(("tensor", "fsdp"))
PARAMS = {
    "dense1": {"kernel": COLUMNS, "bias": ROWS},
    "dense2": {"kernel": ROWS, "bias": P("fsdp")},
    "dense3": {"kernel": COLUMNS, "bias": ROWS},
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
    """Build the state: each matrix split over both axes, and the moments like their parameter."""

    def build() -> State:
        params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}

    return jax.jit(build, out_shardings=jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS))()


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    adam = optax.scale_by_adam(eps=EPSILON)
    elements = y.size

    def loss_fn(shards: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        # What is left is this device's columns or rows. Differentiation turns each all_gather into a reduce_scatter.
        params = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", axis=0, tiled=True), shards)
        one, two, three = params["dense1"], params["dense2"], params["dense3"]
        h = nnx.relu(x @ one["kernel"] + one["bias"])
        h = nnx.relu(jax.lax.psum(h @ two["kernel"], "tensor") + two["bias"])
        error = h @ three["kernel"] + three["bias"] - y
        return jax.lax.psum(jnp.sum(error**2), ("fsdp", "tensor")) / elements

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp", "tensor")), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        params = state["params"]
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
        directions, moments = adam.update(grads, moments)
        params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, params, directions)
        return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}, loss

    return local_step(state, x, y)
