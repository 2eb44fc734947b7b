"""The step receives a replicated state and returns a split one, so the next step does not find the state where this one
found it."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, EPSILON = 1e-2, 1e-4


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def build(seed):
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}


def init(mesh, seed):
    return jax.device_put(build(seed), NamedSharding(mesh, P()))


def loss_fn(params, x, y):
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)


def adam(state, grads):
    """The new state, by optax."""
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    new_state = adam(state, grads)
    shardings = jax.tree.map(lambda leaf: NamedSharding(mesh, P("data") if leaf.ndim else P()), new_state)
    return jax.lax.with_sharding_constraint(new_state, shardings), loss
