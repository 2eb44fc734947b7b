"""The count starts as `jnp.asarray(0)`, whose dtype is weak. Adam returns a strong one, so the second step is traced again."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LEARNING_RATE, EPS = 1e-2, 1e-4
SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


@partial(jax.jit, static_argnums=0)
def init(mesh: Mesh, seed: int) -> State:
    """Build the state with every leaf but the count split along dimension 0. No device ever holds a whole parameter."""
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = {"params": params, "mu": zeros, "nu": zeros, "count": jnp.asarray(0)}
    return {
        name: jax.lax.with_sharding_constraint(state[name], NamedSharding(mesh, spec)) for name, spec in SPECS.items()
    }


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    adam = optax.scale_by_adam(eps=EPS)

    def loss_fn(shards: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        params = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", axis=0, tiled=True), shards)
        error = nnx.merge(graph, params)(x) - y
        # Each device has the mean over its own rows. reduce_scatter adds; this mean over devices supplies the 1/N.
        return jax.lax.pmean(jnp.mean(error**2), "fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        params = state["params"]
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
        directions, moments = adam.update(grads, moments)
        params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, params, directions)
        return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}, loss

    return local_step(state, x, y)
