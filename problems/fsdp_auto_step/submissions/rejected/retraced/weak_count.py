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
    split, whole = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P())
    state = jax.lax.with_sharding_constraint({"params": params, "mu": zeros, "nu": zeros}, split)
    return state | {"count": jax.lax.with_sharding_constraint(jnp.asarray(0), whole)}


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    whole, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("fsdp"))
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))

    def loss_fn(params: Any) -> jax.Array:
        # Use whole weights, whatever the batch size: without this the partitioner may move activations instead.
        params = jax.lax.with_sharding_constraint(params, whole)
        return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    grads = jax.lax.with_sharding_constraint(grads, split)
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPS).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    sharded = jax.lax.with_sharding_constraint({"params": params, "mu": moments.mu, "nu": moments.nu}, split)
    return sharded | {"count": moments.count}, loss
