"""You kept the optimizer's state in optax's own tuples: the leaves of this problem are called mu/..., nu/... and count."""

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


def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    state = {"params": params, "opt_state": optax.adam(LEARNING_RATE, eps=EPSILON).init(params)}
    return jax.device_put(state, NamedSharding(mesh, P()))


def loss_fn(params, x, y):
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)


def step(mesh, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    updates, opt_state = optax.adam(LEARNING_RATE, eps=EPSILON).update(grads, state["opt_state"])
    new_state = {"params": optax.apply_updates(state["params"], updates), "opt_state": opt_state}
    return jax.lax.with_sharding_constraint((new_state, loss), NamedSharding(mesh, P()))
