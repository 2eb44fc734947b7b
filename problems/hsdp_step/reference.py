"""Gather inside the loss over fsdp; its transpose scatters over fsdp, and the mean over data crosses the groups."""

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
SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}
ROWS = P(("data", "fsdp"))


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh: Mesh, seed: int) -> State:
    """Build the state: every leaf split over fsdp along dimension 0, the same shards in each group of data."""

    def build() -> State:
        params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}

    return jax.jit(build, out_shardings={name: NamedSharding(mesh, spec) for name, spec in SPECS.items()})()


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    adam = optax.scale_by_adam(eps=EPSILON)

    def gather(shard: jax.Array) -> jax.Array:
        shard = jax.lax.pcast(shard, "data", to="varying")
        return jax.lax.all_gather(shard, "fsdp", axis=0, tiled=True)

    def loss_fn(shards: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        params = jax.tree.map(gather, shards)
        error = nnx.merge(graph, params)(x) - y
        return jax.lax.pmean(jnp.mean(error**2), ("data", "fsdp"))

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, ROWS, ROWS), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        params = state["params"]
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
        directions, moments = adam.update(grads, moments)
        params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, params, directions)
        return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}, loss

    return local_step(state, x, y)
