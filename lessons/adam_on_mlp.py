from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

# Shared by the programs of the comparison: the network, its first state, and an Adam step.
State = dict[str, Any]

LEARNING_RATE, EPSILON = 1e-2, 1e-4


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def place(mesh: Mesh, seed: int, specs: Any, pack: Callable[[Any], Any] = lambda params: params) -> State:
    """Build the state, with its parameters packed by `pack`, and split it as `specs` says."""

    def build() -> State:
        params = pack(nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param)))
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}

    shardings = jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs, is_leaf=lambda each: isinstance(each, P))
    return jax.jit(build, out_shardings=shardings)()


def adam(state: State, grads: Any) -> tuple[Any, State]:
    """Return each parameter's update direction, and the state with new moments but the old parameters."""
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    return directions, {**state, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def descend(params: Any, directions: Any) -> Any:
    return jax.tree.map(lambda p, d: p - LEARNING_RATE * d, params, directions)
